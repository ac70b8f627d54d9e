import type { components } from "./api.gen.js";
import type { WireMessage } from "./message.js";
import type { Position } from "./position.js";
import type { Start } from "./pull.js";

/** How messages can come, best first. */
export type TransportName = "websocket" | "sse" | "long-poll";

/** What a tail wants. */
export interface Wanted {
  readonly topic: string;
  readonly queues: readonly number[] | undefined;
  readonly tags: string | undefined;
  readonly sql: string | undefined;
  readonly from: Start;
  /** Where to go on; its cursor, if it has one, wins over `from`. */
  readonly position: Position;
  /** The position's offsets win over `from`: it has no cursor, and messages were yielded. */
  readonly exact: boolean;
  readonly signal: AbortSignal;
}

/** What a transport brings. */
export type Arrival =
  | { readonly kind: "open" }
  | { readonly kind: "alive" }
  | {
      readonly kind: "messages";
      readonly items: readonly WireMessage[];
      readonly cursor?: string | undefined;
    }
  | { readonly kind: "gap"; readonly gap: components["schemas"]["Gap"]; readonly cursor?: string | undefined }
  | { readonly kind: "cursor"; readonly cursor: string }
  | { readonly kind: "skip"; readonly queue: number; readonly to: number };

/**
 * One try to follow a topic. It yields `open` first, ends when the server ends
 * it, and throws what went wrong. `return` lets go of everything it holds.
 */
export type Transport = (wanted: Wanted) => AsyncGenerator<Arrival, void, undefined>;
