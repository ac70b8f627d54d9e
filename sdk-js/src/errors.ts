import type { components } from "./api.gen.js";

type Schemas = components["schemas"];

/** One place of a problem, with the current state (bounds, epoch, etag) where that helps to go on. */
export type ProblemItem = Schemas["ProblemItem"];

/** Messages that a tail will not carry: the offsets from `from` up to, not including, `to`. */
export interface Gap {
  readonly queue: number;
  readonly from: number;
  readonly to: number;
  /** `trimmed`, `corrupt`, `epoch_changed`, `beyond_end`, or one that is new. */
  readonly reason: string;
}

/** What is known about a failure besides its code and text. */
export interface ErrorDetails {
  readonly status?: number;
  readonly retryable?: boolean;
  readonly definite?: boolean;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly items?: readonly ProblemItem[];
  readonly gap?: Gap;
  readonly outcomes?: readonly SendOutcome[];
  readonly idempotencyKey?: string;
  readonly cause?: unknown;
}

/** What became of one message of a batch. */
export type SendOutcome =
  | { readonly stored: true; readonly result: SendResult }
  | { readonly stored: false; readonly error: BucketMQError };

/** Where a message is stored. */
export interface SendResult {
  /** The message's id; empty when `duplicate` and too long ago to know. */
  readonly messageId: string;
  readonly queue: number;
  /** -1 when the message is delayed, and when `duplicate` and too long ago to know. */
  readonly offset: number;
  /** Of a delayed message: what `topic.recall` takes. */
  readonly recallHandle?: string;
  /** It was stored by an earlier request. */
  readonly duplicate: boolean;
}

/**
 * Every failure of this SDK, except an abort. Act on `code`, never on the text.
 *
 * @example
 * try {
 *   await topic.send(order);
 * } catch (err) {
 *   if (err instanceof BucketMQError && err.code === "topic_not_found") await mq.topics.put("orders");
 *   else throw err;
 * }
 */
export class BucketMQError extends Error {
  override readonly name = "BucketMQError";
  /** The kind of failure: a code of the server's `docs/errors.md` or of this SDK's SPEC. */
  readonly code: string;
  /** The HTTP status; 0 without an answer. */
  readonly status: number;
  /** The call surely changed nothing and the same call may succeed later. */
  readonly retryable: boolean;
  /** The call surely changed nothing. */
  readonly definite: boolean;
  /** Finds the request in the server's logs. */
  readonly requestId: string | undefined;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** Where the problem is, one item per place. */
  readonly items: readonly ProblemItem[];
  /** With `gap`: what is missing. */
  readonly gap: Gap | undefined;
  /** With `partly_stored`: one per message, in order. */
  readonly outcomes: readonly SendOutcome[] | undefined;
  /** With `outcome_unknown`: send again with this key to be sure. */
  readonly idempotencyKey: string | undefined;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? 0;
    this.definite = details.definite ?? details.retryable ?? false;
    this.retryable = (details.retryable ?? false) && this.definite;
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs;
    this.items = details.items ?? [];
    this.gap = details.gap;
    this.outcomes = details.outcomes;
    this.idempotencyKey = details.idempotencyKey;
  }
}

/** The error of a call that can never work. */
export function invalidArgument(message: string): BucketMQError {
  return new BucketMQError("invalid_argument", message, { definite: true });
}

/** The error of a problem document, or undefined when it is none. */
export function problemError(value: unknown, retryAfterMs?: number): BucketMQError | undefined {
  if (!isProblem(value)) return undefined;
  return new BucketMQError(value.code, value.detail ? `${value.title}: ${value.detail}` : value.title, {
    status: value.status,
    retryable: value.retryable && value.definite,
    definite: value.definite,
    requestId: value.request_id,
    retryAfterMs: value.retry_after_ms ?? retryAfterMs,
    items: value.errors ?? [],
  });
}

function isProblem(value: unknown): value is Schemas["Problem"] {
  if (typeof value !== "object" || value === null) return false;
  const { code, title, status } = value as Record<string, unknown>;
  return typeof code === "string" && typeof title === "string" && typeof status === "number";
}

const passing: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504]);
const passingCodes: ReadonlySet<string> = new Set([
  "network",
  "timeout",
  "invalid_answer",
  "token_failed",
  "idempotency_in_flight",
]);

/** Whether the reason of a failure can go away by itself, whatever the call has changed. */
export function canPass(error: BucketMQError): boolean {
  return error.retryable || passing.has(error.status) || passingCodes.has(error.code);
}
