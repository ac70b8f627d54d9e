/** The bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

/** The bytes that base64 stands for. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Text as base64url of its UTF-8 bytes. */
export function toBase64Url(text: string): string {
  return toBase64(new TextEncoder().encode(text))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** What toBase64Url encoded. */
export function fromBase64Url(text: string): string {
  return new TextDecoder().decode(fromBase64(text.replaceAll("-", "+").replaceAll("_", "/")));
}

/** How many bytes the text has in UTF-8. */
export function utf8Length(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    length += unit < 0x800 ? 1 : 2;
    if (unit >= 0xd800 && unit < 0xdc00) i++; // a pair is 2 units and 4 bytes
  }
  return length;
}

/** The size of a message's body. */
export function bodyBytes(message: { readonly body: string | null; readonly encoding: string }): number {
  if (message.body === null) return 0;
  return message.encoding === "base64" ? base64Bytes(message.body) : utf8Length(message.body);
}

function base64Bytes(text: string): number {
  return text.length < 4
    ? fromBase64(text).length
    : (text.length / 4) * 3 - (text.length - text.replace(/=+$/, "").length);
}
