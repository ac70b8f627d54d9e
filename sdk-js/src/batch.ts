import type { components } from "./api.gen.js";
import type { NackOptions, Settler } from "./delivery.js";
import { BucketMQError, invalidArgument } from "./errors.js";
import type { WireMessage } from "./message.js";

type Schemas = components["schemas"];

/** How a batch treats what was given back. */
export interface BatchRules {
  /** The wait after each attempt; the last one repeats. */
  readonly delays: readonly number[];
  /** Whether what is behind a message of its queue waits for it. */
  readonly ordered: boolean;
}

/** The messages of one poll, until all are finished. */
export class Batch implements Settler {
  readonly #rules: BatchRules;
  /** What is not finished, in the order of delivery. */
  readonly #open: Map<string, WireMessage>;
  readonly #finished: WeakSet<WireMessage> = new WeakSet();
  #fresh: WireMessage[];
  #again: { readonly at: number; readonly wire: WireMessage }[] = [];
  #failure: { readonly reason: unknown } | undefined;
  #wake: () => void = () => {};

  constructor(items: readonly WireMessage[], rules: BatchRules) {
    this.#rules = rules;
    this.#fresh = [...items];
    this.#open = new Map(items.map((wire) => [keyOf(wire), wire]));
  }

  get finished(): boolean {
    return this.#open.size === 0;
  }

  /** The smallest offset of a queue that is not finished. */
  unfinished(topic: string, queue: number): number | undefined {
    let least: number | undefined;
    for (const wire of this.#open.values()) {
      if (wire.topic === topic && wire.queue === queue) least = Math.min(least ?? wire.offset, wire.offset);
    }
    return least;
  }

  /** What is to be delivered now. Throws once the batch has failed. */
  take(): WireMessage | undefined {
    if (this.#failure) throw this.#failure.reason;
    const [again] = this.#again;
    if (again && again.at <= Date.now()) {
      this.#again.shift();
      return again.wire;
    }
    return this.#fresh.shift();
  }

  /** Waits for something to change, or for what comes again. */
  async changed(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", this.#wake, { once: true });
        const [again] = this.#again;
        if (again) timer = setTimeout(resolve, Math.max(0, again.at - Date.now()));
      });
    } finally {
      signal.removeEventListener("abort", this.#wake);
      clearTimeout(timer);
    }
    signal.throwIfAborted();
  }

  /** Ends the batch: nothing of it counts any more. */
  fail(reason: unknown): void {
    this.#failure ??= { reason };
    this.#wake();
  }

  /** Forgets the messages of queues that are not the member's, or were reset. */
  keep(isOwn: (topic: string, queue: number) => boolean): void {
    const own = (wire: WireMessage): boolean => isOwn(wire.topic ?? "", wire.queue);
    for (const [key, wire] of this.#open) if (!own(wire)) this.#open.delete(key);
    this.#fresh = this.#fresh.filter(own);
    this.#again = this.#again.filter(({ wire }) => own(wire));
    this.#wake();
  }

  async ack(wire: WireMessage): Promise<void> {
    if (this.#failure) throw this.#failure.reason;
    if (this.#finished.has(wire)) return;
    if (this.#open.get(keyOf(wire)) !== wire) throw superseded(wire);
    this.#finished.add(wire);
    this.#open.delete(keyOf(wire));
    this.#wake();
  }

  async nack(wire: WireMessage, { delayMs: given, deadLetter, unhandled }: NackOptions): Promise<void> {
    if (this.#failure) throw this.#failure.reason;
    if (deadLetter) throw invalidArgument("deadLetter: not over long poll in queue mode; use mode shared");
    if (this.#open.get(keyOf(wire)) !== wire) throw superseded(wire);
    const attempt = Math.min(wire.attempt ?? 1, this.#rules.delays.length);
    const delayMs = unhandled ? 0 : (given ?? this.#rules.delays[attempt - 1] ?? 0);
    if (!(delayMs >= 0)) throw invalidArgument("delayMs: from 0");
    const behind = this.#rules.ordered ? this.#behind(wire) : [wire];
    this.#fresh = this.#fresh.filter((other) => !behind.includes(other));
    this.#again = this.#again.filter((other) => !behind.includes(other.wire));
    const at = Date.now() + delayMs;
    for (const one of behind) {
      const next = { ...one, attempt: (one.attempt ?? 1) + (one === wire && !unhandled ? 1 : 0) };
      this.#open.set(keyOf(one), next);
      this.#again.push({ at, wire: next });
    }
    this.#again.sort((a, b) => a.at - b.at); // stable: what was behind stays behind
    this.#wake();
  }

  async extend(): Promise<undefined> {}

  /** A message and what is behind it in its queue. */
  #behind(wire: WireMessage): WireMessage[] {
    return [...this.#open.values()]
      .filter((one) => one.topic === wire.topic && one.queue === wire.queue && one.offset >= wire.offset)
      .sort((a, b) => a.offset - b.offset);
  }
}

/** Where the queues of a poll are with what is finished. */
export function progressOf(
  queues: readonly Schemas["OwnedQueue"][],
  batch: Batch,
): Schemas["OffsetCommit"][] {
  return queues.map((q) => ({
    topic: q.topic,
    queue: q.queue,
    offset: batch.unfinished(q.topic, q.queue) ?? q.offset,
    version: q.version,
    assignment_epoch: q.assignment_epoch,
  }));
}

function superseded(wire: WireMessage): BucketMQError {
  const what = `offset ${wire.offset} of queue ${wire.queue} is not this delivery's any more`;
  return new BucketMQError("receipt_superseded", what, { definite: true });
}

function keyOf({ topic, queue, offset }: WireMessage): string {
  return `${topic}/${queue}/${offset}`;
}
