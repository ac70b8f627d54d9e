import type { components } from "./api.gen.js";
import { fromBase64 } from "./bytes.js";
import { BucketMQError } from "./errors.js";
import { replyToProperty } from "./properties.js";

/** A message as it is on the wire. */
export type WireMessage = components["schemas"]["Message"];

const noProperties: Readonly<Record<string, string>> = Object.freeze({});

/**
 * A stored message. It never changes.
 *
 * @example
 * for await (const message of mq.topic("orders").tail()) {
 *   if (message.tombstone) forget(message.keys);
 *   else apply(message.json<Order>());
 * }
 */
export class Message {
  readonly #wire: WireMessage;
  readonly #topic: string;

  /** @internal */
  constructor(wire: WireMessage, topic: string) {
    this.#wire = wire;
    this.#topic = topic;
  }

  get topic(): string {
    return this.#topic;
  }
  get queue(): number {
    return this.#wire.queue;
  }
  /** The place in the queue. */
  get offset(): number {
    return this.#wire.offset;
  }
  /** The message's id, the same wherever it is read. */
  get id(): string {
    return this.#wire.message_id;
  }
  get tag(): string | undefined {
    return this.#wire.tag;
  }
  get keys(): readonly string[] {
    return this.#wire.keys ?? [];
  }
  get orderingKey(): string | undefined {
    return this.#wire.ordering_key;
  }
  get properties(): Readonly<Record<string, string>> {
    return this.#wire.properties ?? noProperties;
  }
  /** Where the reply to the message goes, if it is a request: `mq.reply(message.replyTo, …)`. */
  get replyTo(): string | undefined {
    return this.properties[replyToProperty];
  }
  /** What the producer called the body. */
  get contentType(): string | undefined {
    return this.#wire.content_type;
  }
  /** When the message came to be. */
  get bornAt(): Date {
    return new Date(this.#wire.born_at);
  }
  /** When it was stored; never decreasing within a queue. */
  get storedAt(): Date {
    return new Date(this.#wire.stored_at);
  }
  /** The message has no body, which is not the same as an empty one. */
  get tombstone(): boolean {
    return this.#wire.body === null;
  }

  /** The body as text; null for a tombstone. Throws `invalid_body` when it is not UTF-8. */
  text(): string | null {
    const { body, encoding } = this.#wire;
    if (body === null || encoding !== "base64") return body;
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromBase64(body));
    } catch (cause) {
      throw this.#unreadable("UTF-8 text", cause);
    }
  }

  /** The body as bytes; null for a tombstone. */
  bytes(): Uint8Array | null {
    const { body, encoding } = this.#wire;
    if (body === null) return null;
    return encoding === "base64" ? fromBase64(body) : new TextEncoder().encode(body);
  }

  /** The body parsed as JSON; null for a tombstone. Throws `invalid_body` when it is not JSON. T is not checked. */
  json<T = unknown>(): T {
    const text = this.text();
    try {
      return (text === null ? null : JSON.parse(text)) as T;
    } catch (cause) {
      throw this.#unreadable("JSON", cause);
    }
  }

  #unreadable(want: string, cause: unknown): BucketMQError {
    return new BucketMQError(
      "invalid_body",
      `message ${this.queue}/${this.offset} of ${this.topic} is not ${want}`,
      {
        definite: true,
        cause,
      },
    );
  }
}
