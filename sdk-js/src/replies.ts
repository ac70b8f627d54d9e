import type { components } from "./api.gen.js";
import { fromBase64 } from "./bytes.js";
import { BucketMQError } from "./errors.js";
import { type Endpoint, request } from "./http.js";
import { encodeMessages, type MessageOptions } from "./publish.js";

type Schemas = components["schemas"];

/** How a request is sent. */
export interface RequestOptions extends MessageOptions {
  /** How long to wait for the reply, up to a minute. Default 5 s. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** What a reply says besides its body. */
export interface ReplyOptions {
  readonly contentType?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** The reply to a request, and where the request's message is. */
export class Reply {
  readonly messageId: string;
  readonly queue: number;
  readonly offset: number;
  readonly correlationId: string;
  readonly contentType: string | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly #reply: Schemas["Reply"];

  /** @internal */
  constructor(result: Schemas["RequestResult"]) {
    this.messageId = result.message_id;
    this.queue = result.queue;
    this.offset = result.offset;
    this.correlationId = result.correlation_id;
    this.contentType = result.reply.content_type;
    this.properties = result.reply.properties ?? {};
    this.#reply = result.reply;
  }

  /** The body as bytes; null when there is none. */
  bytes(): Uint8Array | null {
    const { body, encoding } = this.#reply;
    if (body === null) return null;
    return encoding === "base64" ? fromBase64(body) : new TextEncoder().encode(body);
  }

  /** The body as text; null when there is none. Throws `invalid_body` when it is not UTF-8. */
  text(): string | null {
    const { body, encoding } = this.#reply;
    if (body === null || encoding !== "base64") return body;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromBase64(body));
    } catch (cause) {
      throw new BucketMQError("invalid_body", "the reply is not UTF-8 text", { definite: true, cause });
    }
  }

  /** The body parsed as JSON; null when there is none. Throws `invalid_body` when it is not JSON. T is not checked. */
  json<T = unknown>(): T {
    const text = this.text();
    try {
      return (text === null ? null : JSON.parse(text)) as T;
    } catch (cause) {
      throw new BucketMQError("invalid_body", "the reply is not JSON", { definite: true, cause });
    }
  }
}

/** Sends a message and waits for the reply to it. */
export async function ask(
  endpoint: Endpoint,
  topic: string,
  value: unknown,
  { timeoutMs, ...message }: RequestOptions,
  signal: AbortSignal,
): Promise<Reply> {
  const { messages }: Schemas["SendRequest"] = JSON.parse(encodeMessages([{ ...message, body: value }]));
  const answer = await request<Schemas["RequestResult"]>(endpoint, {
    method: "POST",
    path: `v1/topics/${topic}/requests`,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      message: messages[0],
      ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    }),
    safety: "change", // sent twice it is two requests
    signal,
    timeoutMs: endpoint.timeoutMs + (timeoutMs ?? 5_000),
  });
  return new Reply(answer.body);
}

/** Replies to a request. */
export async function answer(
  endpoint: Endpoint,
  replyTo: string,
  value: unknown,
  { contentType, properties }: ReplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const options = {
    ...(contentType === undefined ? {} : { contentType }),
    ...(properties ? { properties } : {}),
  };
  const { messages }: Schemas["SendRequest"] = JSON.parse(encodeMessages([{ ...options, body: value }]));
  await request(endpoint, {
    method: "POST",
    path: "v1/replies",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ reply_to: replyTo, ...messages[0] }),
    safety: "change",
    signal,
  });
}
