import type { components } from "./api.gen.js";
import type { Settler } from "./delivery.js";
import type { WireMessage } from "./message.js";

type Schemas = components["schemas"];

/** How a group is consumed: as the owner of queues, or by receiving from any queue for a time. */
export type ConsumeMode = "group" | "broadcast" | "shared";

/** A queue of a member. */
export interface OwnedQueue {
  readonly topic: string;
  readonly queue: number;
  /** The next offset to consume as it is committed. */
  readonly offset: number;
}

/** The settings of the group for one topic that a program may go by; 0 and "" say nothing. */
export interface LiveSettings {
  readonly topic: string;
  readonly concurrency: number;
  readonly pullBatch: number;
  readonly consumeBatch: number;
  readonly retryCount: number;
  readonly timeoutMs: number;
  readonly maxLag: number;
  readonly tags: string;
}

/** What happened to a consumer besides messages. */
export type ConsumerEvent =
  | {
      readonly kind: "open";
      readonly transport: "websocket" | "http";
      readonly recovered: boolean;
      readonly ordered: boolean;
    }
  | { readonly kind: "waiting"; readonly pauseMs: number; readonly error: Error }
  | { readonly kind: "assigned"; readonly queues: readonly OwnedQueue[] }
  | { readonly kind: "revoking"; readonly queues: readonly OwnedQueue[] }
  | { readonly kind: "revoked"; readonly queues: readonly OwnedQueue[] }
  | { readonly kind: "settings"; readonly settings: readonly LiveSettings[] }
  | { readonly kind: "stalled"; readonly reason: string };

/** What a source is asked for. */
export interface ConsumeWanted {
  readonly group: string;
  readonly mode: ConsumeMode;
  readonly topics: readonly Schemas["TopicFilter"][];
  readonly clientId: string;
  readonly sessionKey: string;
  readonly ordered: boolean;
  readonly invisibleMs: number | undefined;
  /** Messages that may be under way to the consumer. */
  readonly prefetch: number;
  readonly signal: AbortSignal;
  /** Hears of events as they come, also while the program is busy with a message. */
  readonly tell: (event: ConsumerEvent) => void;
  /** How far the last try came over long poll. */
  readonly reached: { member?: string; cursor?: string };
}

/** What a source brings. */
export type ConsumeArrival =
  | { readonly kind: "message"; readonly wire: WireMessage; readonly settler: Settler }
  | { readonly kind: "gap"; readonly gap: Schemas["Gap"] };

/**
 * One try to consume. It tells the event `open` first, ends when the server ends it, and throws what went wrong.
 * `return` leaves the group.
 */
export type ConsumeSource = (wanted: ConsumeWanted) => AsyncGenerator<ConsumeArrival, void, undefined>;

/** The settings as a program sees them. */
export function liveSettings(
  wire: readonly Schemas["GroupSubscription"][],
): ConsumerEvent & { kind: "settings" } {
  return {
    kind: "settings",
    settings: wire.map((s) => ({
      topic: s.topic,
      concurrency: s.concurrency,
      pullBatch: s.pull_batch,
      consumeBatch: s.consume_batch,
      retryCount: s.retry_count,
      timeoutMs: s.timeout_ms,
      maxLag: s.max_lag,
      tags: s.tags,
    })),
  };
}

/** Queues as a program sees them. */
export function ownedQueues(wire: readonly Schemas["OwnedQueue"][]): OwnedQueue[] {
  return wire.map(({ topic, queue, offset }) => ({ topic, queue, offset }));
}
