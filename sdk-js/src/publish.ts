import type { components } from "./api.gen.js";
import { toBase64 } from "./bytes.js";
import { BucketMQError, invalidArgument, problemError, type SendOutcome, type SendResult } from "./errors.js";

type Schemas = components["schemas"];

/** What belongs to a message besides its body. */
export interface MessageOptions {
  /** One word to filter by, without blanks and `|`. */
  readonly tag?: string;
  /** A business key to find the message by, without blanks. */
  readonly key?: string;
  /** More business keys. */
  readonly keys?: readonly string[];
  /** Messages with the same ordering key go to the same queue and keep their order. */
  readonly orderingKey?: string;
  /** The queue to store in; not together with `orderingKey`. Default: the server picks one. */
  readonly queue?: number;
  readonly properties?: Readonly<Record<string, string>>;
  /** What the body is, for readers. Default: `application/json` for values that are sent as JSON. */
  readonly contentType?: string;
  /** When the message came to be. Default: when it arrives. */
  readonly bornAt?: Date | number;
  /** How long from now it is delivered, by the server's clock and never before; in topics of type `delay` or `mixed`. */
  readonly delayMs?: number;
  /** When it is delivered, instead of `delayMs`; a time that is past is no delay. */
  readonly deliverAt?: Date | number;
  /** The delay as a level from 1 (1 s) to 18 (2 h), instead of `delayMs`. */
  readonly delayLevel?: number;
}

/** A message to send. */
export interface NewMessage extends MessageOptions {
  /** A string is text, bytes are bytes, null is a tombstone, everything else is sent as JSON. */
  readonly body: unknown;
}

/** How to send. */
export interface SendOptions {
  /** Names the request, 1 to 255 visible ASCII characters. Default: a random one. */
  readonly idempotencyKey?: string;
  /**
   * Stores only if this is the next offset of the queue, which every message names; else `next_offset_conflict`,
   * whose `items[0].next_offset` tells the current one. So one of several writers that read the same state wins.
   */
  readonly ifNextOffset?: number;
  /** Stops waiting for the answer; what was sent may still be stored. */
  readonly signal?: AbortSignal;
}

/** The body of a request that sends messages. */
export function encodeMessages(messages: readonly NewMessage[], ifNextOffset?: number): string {
  const request: Schemas["SendRequest"] = { messages: messagesOf(messages) };
  if (ifNextOffset !== undefined) request.if_next_offset = ifNextOffset;
  return JSON.stringify(request);
}

/** Messages as the API takes them. */
export function messagesOf(messages: readonly NewMessage[]): Schemas["NewMessage"][] {
  if (messages.length === 0) throw invalidArgument("no messages");
  return messages.map(wireOf);
}

/** One message as JSON. */
export function encodeMessage(message: NewMessage): string {
  return JSON.stringify(wireOf(message));
}

function wireOf(message: NewMessage): Schemas["NewMessage"] {
  const { body, tag, key, keys, orderingKey, queue, properties, contentType, bornAt } = message;
  const { delayMs, deliverAt, delayLevel } = message;
  const wire: Schemas["NewMessage"] = bodyOf(body);
  const allKeys = [...(key === undefined ? [] : [key]), ...(keys ?? [])];
  if (contentType !== undefined) wire.content_type = contentType;
  if (tag !== undefined) wire.tag = tag;
  if (allKeys.length > 0) wire.keys = allKeys;
  if (orderingKey !== undefined) wire.ordering_key = orderingKey;
  if (queue !== undefined) wire.queue = queue;
  if (properties !== undefined) wire.properties = { ...properties };
  if (bornAt !== undefined) wire.born_at = timeOf(bornAt, "bornAt");
  if (delayMs !== undefined) wire.delay_ms = delayMs;
  if (deliverAt !== undefined) wire.deliver_at = timeOf(deliverAt, "deliverAt");
  if (delayLevel !== undefined) wire.delay_level = delayLevel;
  return wire;
}

function bodyOf(body: unknown): Schemas["NewMessage"] {
  if (body === null) return { body: null };
  if (typeof body === "string") return { body };
  if (body instanceof ArrayBuffer) return { body: toBase64(new Uint8Array(body)), encoding: "base64" };
  if (ArrayBuffer.isView(body)) {
    const bytes = new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
    return { body: toBase64(bytes), encoding: "base64" };
  }
  const json: unknown = stringify(body);
  if (typeof json !== "string")
    throw invalidArgument(`a body of type ${typeof body} has no JSON; null is a tombstone`);
  return { body: json, content_type: "application/json" };
}

function stringify(body: unknown): unknown {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new BucketMQError("invalid_argument", "the body has no JSON", { definite: true, cause });
  }
}

/** A time as the API writes it. */
export function timeOf(time: Date | number, what: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) throw invalidArgument(`${what}: not a time`);
  return date.toISOString();
}

/** Where the messages are stored; throws when one is not. */
export function sentOf(answer: Schemas["SendResult"] | undefined, count: number): SendResult[] {
  const outcomes = outcomesOf(answer, count);
  const failed = outcomes.find((outcome) => !outcome.stored);
  if (failed && !failed.stored) {
    if (count === 1) throw failed.error;
    throw new BucketMQError("partly_stored", "some messages are not stored", {
      outcomes,
      cause: failed.error,
    });
  }
  return outcomes.flatMap((outcome) => (outcome.stored ? [outcome.result] : []));
}

/** What became of each message. */
export function outcomesOf(answer: Schemas["SendResult"] | undefined, count: number): SendOutcome[] {
  const outcomes = answer?.results?.map(outcomeOf) ?? [];
  if (outcomes.length !== count) {
    throw new BucketMQError("invalid_answer", `${outcomes.length} results for ${count} messages`);
  }
  return outcomes;
}

/** 128 random bits. Not randomUUID: pages without TLS do not have it. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function outcomeOf(outcome: Schemas["SendOutcome"]): SendOutcome {
  if (outcome.status === "stored") {
    const { message_id, queue, offset, duplicate, recall_handle } = outcome;
    return {
      stored: true,
      result: {
        messageId: message_id ?? "",
        queue: queue ?? -1,
        offset: offset ?? -1,
        duplicate: duplicate ?? false,
        ...(recall_handle === undefined ? {} : { recallHandle: recall_handle }),
      },
    };
  }
  const error =
    problemError(outcome.error) ?? new BucketMQError("invalid_answer", `a message is ${outcome.status}`);
  return { stored: false, error };
}
