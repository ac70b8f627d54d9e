import { utf8Length } from "./bytes.js";
import { BucketMQError, type SendResult } from "./errors.js";

/** A message that is not settled. */
export interface Pending {
  readonly json: string;
  readonly bytes: number;
  /** Its place among all messages of the outbox. */
  readonly number: number;
  readonly since: number;
  resolve(result: SendResult): void;
  reject(reason: unknown): void;
}

/** When a batch is full, and how much may wait. */
export interface OutboxLimits {
  readonly lingerMs: number;
  readonly maxMessages: number;
  readonly maxBytes: number;
  readonly maxPendingBytes: number;
}

/** Messages that wait for others to go with them, in order. One batch is out at a time. */
export class Outbox {
  readonly #limits: OutboxLimits;
  readonly #closed: AbortSignal;
  #queue: Pending[] = [];
  #out: readonly Pending[] = [];
  /** Of the queue and of what is out. */
  #bytes = 0;
  #count = 0;
  /** Messages up to this number do not linger. */
  #hurry = 0;
  #wake: () => void = () => {};
  readonly #watchers: (() => void)[] = [];

  constructor(limits: OutboxLimits, closed: AbortSignal) {
    this.#limits = limits;
    this.#closed = closed;
  }

  /** Whether nothing waits to be taken. */
  get empty(): boolean {
    return this.#queue.length === 0;
  }

  /** Takes a message in; resolves or rejects when it is settled. */
  add(json: string, signal: AbortSignal | undefined): Promise<SendResult> {
    const bytes = utf8Length(json);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#limits.maxPendingBytes) {
      throw new BucketMQError("buffer_full", "more is waiting than maxPendingBytes allows", {
        retryable: true,
      });
    }
    this.#bytes += bytes;
    const number = ++this.#count;
    return new Promise((resolve, reject) => {
      const abort = (): void => this.#withdraw(pending, signal?.reason);
      const release = (): void => signal?.removeEventListener("abort", abort);
      const pending: Pending = {
        json,
        bytes,
        number,
        since: Date.now(),
        resolve: (result) => {
          release();
          resolve(result);
        },
        reject: (reason) => {
          release();
          reject(reason);
        },
      };
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.push(pending);
      this.#wake();
    });
  }

  /** Waits until a batch is full or its first message has waited long enough, and takes it out. */
  async take(): Promise<readonly Pending[]> {
    const wake = (): void => this.#wake();
    this.#closed.addEventListener("abort", wake);
    for (let ms = this.#lingers(); ms > 0; ms = this.#lingers()) await this.#pause(ms);
    this.#closed.removeEventListener("abort", wake);
    this.#out = this.#queue.splice(0, this.#full());
    return this.#out;
  }

  /** Forgets the batch that was taken out: all of it is settled. */
  settled(): void {
    for (const { bytes } of this.#out) this.#bytes -= bytes;
    this.#out = [];
    for (const look of this.#watchers.splice(0)) look();
  }

  /** Resolves when there is room. */
  async room(): Promise<void> {
    while (this.#bytes >= this.#limits.maxPendingBytes) await this.#change();
  }

  /** Lets nothing of now linger; resolves when all of it is settled. */
  async flush(): Promise<void> {
    const last = this.#count;
    this.#hurry = last;
    this.#wake();
    const first = (): number => (this.#out[0] ?? this.#queue[0])?.number ?? Number.POSITIVE_INFINITY;
    while (first() <= last) await this.#change();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#watchers.push(resolve));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** How long the next batch waits yet. */
  #lingers(): number {
    const [first] = this.#queue;
    if (!first || first.number <= this.#hurry || this.#closed.aborted) return 0;
    const { lingerMs, maxMessages, maxBytes } = this.#limits;
    if (this.#queue.length >= maxMessages || this.#bytes >= maxBytes) return 0;
    return first.since + lingerMs - Date.now();
  }

  /** How many messages make the next batch; one that is too large goes alone. */
  #full(): number {
    let bytes = 0;
    for (const [at, next] of this.#queue.entries()) {
      bytes += next.bytes + 1;
      if (at === this.#limits.maxMessages || (at > 0 && bytes > this.#limits.maxBytes)) return at;
    }
    return this.#queue.length;
  }

  #withdraw(pending: Pending, reason: unknown): void {
    const at = this.#queue.indexOf(pending);
    if (at >= 0) {
      this.#queue.splice(at, 1);
      this.#bytes -= pending.bytes;
      for (const look of this.#watchers.splice(0)) look();
    }
    pending.reject(reason);
  }
}
