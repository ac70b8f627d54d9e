import type { components } from "./api.gen.js";
import { fromBase64Url, toBase64Url } from "./bytes.js";
import { type Gap, invalidArgument } from "./errors.js";
import type { WireMessage } from "./message.js";

/**
 * How far a tail has come in every queue.
 *
 * The server's cursor is exact only between batches and cannot be made by a
 * client; the offsets are exact always. A stream that starts from the cursor
 * repeats what the offsets say was yielded, and that is dropped.
 */
export class Position {
  readonly topic: string;
  /** The topic's epoch; undefined after a change that did not say. */
  epoch: number | undefined;
  /** The server's cursor; nothing after it is before `next`. */
  cursor: string | undefined;
  readonly #next: Map<number, number>;

  constructor(
    topic: string,
    epoch: number | undefined,
    next: Iterable<readonly [number, number]>,
    cursor?: string,
  ) {
    this.topic = topic;
    this.epoch = epoch;
    this.#next = new Map(next);
    this.cursor = cursor;
  }

  /** The queues that are known. */
  queues(): number[] {
    return [...this.#next.keys()].sort((a, b) => a - b);
  }

  /** The next offset of a queue; of one that is not known, and so newer, 0. */
  next(queue: number): number {
    return this.#next.get(queue) ?? 0;
  }

  /** Whether the message is new; then it counts as yielded. */
  take(message: WireMessage): boolean {
    if (message.offset < this.next(message.queue)) return false;
    this.#next.set(message.queue, message.offset + 1);
    return true;
  }

  /** Goes on at an offset, past messages that do not match. */
  skip(queue: number, to: number): void {
    this.#next.set(queue, to);
  }

  /** Goes behind a gap and returns what of it is news, if anything. */
  jump(gap: components["schemas"]["Gap"]): Gap | undefined {
    const { queue, from, to, reason } = gap;
    const next = this.next(queue);
    const back = reason === "epoch_changed" || reason === "beyond_end";
    if (reason === "epoch_changed") this.epoch = undefined;
    if (!back && to <= next) return undefined; // the part before it was yielded
    this.#next.set(queue, to);
    return { queue, from: back ? from : Math.max(from, next), to, reason };
  }

  /** The position as an opaque string. */
  toString(): string {
    const saved: Saved = {
      v: 1,
      t: this.topic,
      e: this.epoch ?? null,
      n: [...this.#next],
      c: this.cursor ?? null,
    };
    return toBase64Url(JSON.stringify(saved));
  }

  /** Reads what toString made. */
  static parse(text: string, topic: string): Position {
    let saved: unknown;
    try {
      saved = JSON.parse(fromBase64Url(text));
    } catch {
      saved = undefined;
    }
    if (!isSaved(saved)) throw invalidArgument("from.cursor: not the cursor of a tail");
    if (saved.t !== topic) throw invalidArgument(`from.cursor: of topic ${saved.t}, not ${topic}`);
    return new Position(topic, saved.e ?? undefined, saved.n, saved.c ?? undefined);
  }
}

interface Saved {
  readonly v: 1;
  readonly t: string;
  readonly e: number | null;
  readonly n: readonly (readonly [number, number])[];
  readonly c: string | null;
}

function isSaved(value: unknown): value is Saved {
  if (typeof value !== "object" || value === null) return false;
  const { v, t, e, n, c } = value as Record<string, unknown>;
  return (
    v === 1 &&
    typeof t === "string" &&
    (e === null || Number.isSafeInteger(e)) &&
    (c === null || typeof c === "string") &&
    Array.isArray(n) &&
    n.every(
      (pair) =>
        Array.isArray(pair) && pair.length === 2 && pair.every((x) => Number.isSafeInteger(x) && x >= 0),
    )
  );
}
