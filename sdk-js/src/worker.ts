import type { ConsumeOptions, Consumer } from "./consumer.js";
import type { ConsumerEvent, LiveSettings, OwnedQueue } from "./consuming.js";
import type { Delivery } from "./delivery.js";
import { BucketMQError, invalidArgument } from "./errors.js";
import { Hiding } from "./hiding.js";

/** Handles one message. Returning finishes it, throwing gives it back. `signal` aborts when it takes too long. */
export type Handler = (message: Delivery, context: { readonly signal: AbortSignal }) => unknown;

/** How to run a handler. */
export interface RunOptions extends ConsumeOptions {
  /** Handlers at a time; the group's live settings come first. Default 1. */
  readonly concurrency?: number;
  /** Told why a handler failed. Default: nobody is. */
  readonly onError?: (error: unknown, message: Delivery) => void;
  /** Stops the worker as `stop` does; then `done` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** The messages of a queue, where order counts. */
interface Lane {
  /** The end of the last one that is to be handled. */
  last: Promise<void>;
  /** Raised when what waits here comes again. */
  round: number;
}

/** A handler that runs for a group until it is stopped. */
export class Worker implements AsyncDisposable {
  /** Settles when it has ended: by `stop`, or with what no retry heals. */
  readonly done: Promise<void>;
  readonly #consumer: Consumer;
  readonly #handler: Handler;
  readonly #options: RunOptions;
  readonly #hiding: Hiding;
  readonly #settings: Map<string, LiveSettings> = new Map();
  readonly #running: Set<Promise<void>> = new Set();
  readonly #lanes: Map<string, Lane> = new Map();
  #ordered: boolean;
  #stopping = false;
  #failure: { readonly reason: unknown } | undefined;
  #wake: () => void = () => {};

  /** @internal */
  constructor(
    consume: (options: ConsumeOptions) => Consumer,
    handler: Handler,
    options: RunOptions,
    hiddenMs: (signal: AbortSignal) => Promise<number>,
  ) {
    const { concurrency = 1, mode, invisibleMs, signal, ...rest } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1)
      throw invalidArgument("concurrency: a whole number from 1");
    this.#handler = handler;
    this.#options = options;
    this.#ordered = options.ordered ?? false;
    this.#hiding = new Hiding(invisibleMs, hiddenMs);
    const prefetch = mode === "shared" ? concurrency : Math.max(32, 2 * concurrency);
    this.#consumer = consume({
      prefetch: Math.min(prefetch, 1000),
      ...rest,
      ...(mode === undefined ? {} : { mode }),
      ...(invisibleMs === undefined ? {} : { invisibleMs }),
      onEvent: (event) => this.#hear(event),
    });
    this.done = this.#run(signal);
    this.done.catch(() => {}); // who does not look at it is told by onError of nothing
  }

  /** Takes no more messages, waits for the handlers that run, and leaves the group. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(signal: AbortSignal | undefined): Promise<void> {
    const stop = (): void => {
      this.#failure ??= { reason: signal?.reason };
      this.#stopping = true;
      this.#wake();
    };
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    try {
      await this.#take();
    } finally {
      await Promise.all(this.#running);
      this.#hiding.end();
      await this.#consumer.close();
      signal?.removeEventListener("abort", stop);
    }
    if (this.#failure) throw this.#failure.reason;
  }

  async #take(): Promise<void> {
    const messages = this.#consumer[Symbol.asyncIterator]();
    while (!this.#stopping) {
      const next = messages.next();
      const result = await this.#unlessStopped(next);
      if (result === undefined) {
        // One that still comes is not handled.
        next
          .then(
            async ({ done, value }) => done || (await value.nack({ unhandled: true })),
            () => {},
          )
          .catch(() => {});
        return;
      }
      if (result.done) return;
      this.#start(result.value);
      while (!this.#stopping && this.#running.size >= this.#concurrency(result.value.topic)) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  /** The value, or undefined when the worker is stopped before. */
  #unlessStopped<T>(next: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#stopping) resolve(undefined);
      };
      next.then(resolve, reject);
    });
  }

  /** Goes by what the consumer is told, at once. */
  #hear(event: ConsumerEvent): void {
    if (event.kind === "settings") {
      this.#settings.clear();
      for (const s of event.settings) this.#settings.set(s.topic, s);
    } else if (event.kind === "open") {
      this.#ordered = event.ordered || (this.#options.ordered ?? false);
      for (const lane of this.#lanes.values()) lane.round++; // what is not finished comes again
    } else if (event.kind === "assigned" || event.kind === "revoked") {
      for (const queue of event.queues) this.#void(queue);
    }
    this.#wake();
    this.#options.onEvent?.(event);
  }

  #void({ topic, queue }: OwnedQueue): void {
    const lane = this.#lanes.get(`${topic}/${queue}`);
    if (lane) lane.round++;
  }

  #concurrency(topic: string): number {
    return this.#settings.get(topic)?.concurrency || this.#options.concurrency || 1;
  }

  #start(message: Delivery): void {
    const task = (this.#ordered ? this.#inOrder(message) : this.#handle(message)).then(
      () => {},
      (reason) => {
        this.#failure ??= { reason }; // onError threw
        this.#stopping = true;
      },
    );
    this.#running.add(task);
    void task.then(() => {
      this.#running.delete(task);
      this.#wake();
    });
  }

  /** Handles the messages of a queue one after another; once one failed, those behind it come again with it. */
  #inOrder(message: Delivery): Promise<void> {
    const key = `${message.topic}/${message.queue}`;
    const lane = this.#lanes.get(key) ?? { last: Promise.resolve(), round: 0 };
    this.#lanes.set(key, lane);
    const { round } = lane;
    const task = lane.last.then(async () => {
      if (round === lane.round && !this.#stopping) {
        await this.#handle(message, () => lane.round++);
      } else if (message.deadline !== undefined) {
        await message.nack({ unhandled: true }).catch(() => {}); // else it stays hidden, and the queue waits
      }
    });
    lane.last = task.catch(() => {});
    return task;
  }

  /** Handles one message; `failed` is called before it is given back, as from then on it may come again. */
  async #handle(message: Delivery, failed: () => void = () => {}): Promise<void> {
    const settings = this.#settings.get(message.topic);
    const show = message.deadline === undefined ? undefined : this.#hiding.hide(message);
    try {
      for (let tries = settings?.retryCount ?? 0; ; tries--) {
        try {
          await this.#call(message, settings?.timeoutMs ?? 0);
          break;
        } catch (error) {
          this.#options.onError?.(error, message);
          if (tries <= 0 || this.#stopping) {
            failed();
            await this.#settle(message.nack(), message);
            return;
          }
        }
      }
      await this.#settle(message.ack(), message);
    } finally {
      show?.();
    }
  }

  async #call(message: Delivery, timeoutMs: number): Promise<void> {
    const limit = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        if (timeoutMs <= 0) return;
        timer = setTimeout(() => {
          const error = new BucketMQError("timeout", `the handler took longer than ${timeoutMs} ms`);
          limit.abort(error);
          reject(error);
        }, timeoutMs);
      });
      await Promise.race([this.#handler(message, { signal: limit.signal }), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #settle(settling: Promise<void>, message: Delivery): Promise<void> {
    try {
      await settling;
    } catch (error) {
      this.#options.onError?.(error, message); // it comes again
    }
  }
}
