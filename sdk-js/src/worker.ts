import type { ConsumeOptions, Consumer } from "./consumer.js";
import type { ConsumerEvent, LiveSettings } from "./consuming.js";
import type { Delivery } from "./delivery.js";
import { BucketMQError, invalidArgument } from "./errors.js";

/** Handles one message. Returning finishes it, throwing gives it back. `signal` aborts when it takes too long. */
export type Handler = (message: Delivery, context: { readonly signal: AbortSignal }) => unknown;

/** How to run a handler. */
export interface RunOptions extends ConsumeOptions {
  /** Handlers at a time; the group's live settings come first. Default 1. */
  readonly concurrency?: number;
  /** Told why a handler failed. Default: nobody is. */
  readonly onError?: (error: unknown, message: Delivery) => void;
}

/** A handler that runs for a group until it is stopped. */
export class Worker implements AsyncDisposable {
  /** Settles when it has ended: by `stop`, or with what no retry heals. */
  readonly done: Promise<void>;
  readonly #consumer: Consumer;
  readonly #handler: Handler;
  readonly #options: RunOptions;
  readonly #settings: Map<string, LiveSettings>;
  readonly #stopping: AbortController = new AbortController();
  readonly #running: Set<Promise<void>> = new Set();
  /** The last handler of a queue, where order counts, and what is void of it. */
  readonly #queues: Map<string, { last: Promise<void>; round: number }> = new Map();
  readonly #ordered: () => boolean;

  /** @internal */
  constructor(
    consumer: Consumer,
    handler: Handler,
    options: RunOptions,
    settings: Map<string, LiveSettings>,
    ordered: () => boolean,
  ) {
    const { concurrency = 1 } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1)
      throw invalidArgument("concurrency: a whole number from 1");
    this.#consumer = consumer;
    this.#handler = handler;
    this.#options = options;
    this.#settings = settings;
    this.#ordered = ordered;
    this.done = this.#run();
    this.done.catch(() => {}); // who does not look at it is told by onError of nothing
  }

  /** Takes no more messages, waits for the handlers that run, and leaves the group. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(): Promise<void> {
    const messages = this.#consumer[Symbol.asyncIterator]();
    const stopped = new Promise<"stopped">((resolve) => {
      this.#stopping.signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    try {
      for (;;) {
        const next = await Promise.race([messages.next(), stopped]);
        if (next === "stopped" || next.done) break;
        this.#start(next.value);
        while (this.#running.size >= this.#concurrency(next.value.topic)) {
          if ((await Promise.race([...this.#running, stopped])) === "stopped") break;
        }
        if (this.#stopping.signal.aborted) break;
      }
    } finally {
      await Promise.all(this.#running);
      await this.#consumer.close();
    }
  }

  #concurrency(topic: string): number {
    return this.#settings.get(topic)?.concurrency || this.#options.concurrency || 1;
  }

  #start(message: Delivery): void {
    const task = this.#ordered() ? this.#inOrder(message) : this.#handle(message).then(() => {});
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  /** Handles the messages of a queue one after another; once one failed, those behind it come again with it. */
  #inOrder(message: Delivery): Promise<void> {
    const key = `${message.topic}/${message.queue}`;
    const queue = this.#queues.get(key) ?? { last: Promise.resolve(), round: 0 };
    this.#queues.set(key, queue);
    const { round } = queue;
    queue.last = queue.last.then(async () => {
      if (round === queue.round && !(await this.#handle(message))) queue.round++;
    });
    return queue.last;
  }

  /** Handles one message; false: it was given back. */
  async #handle(message: Delivery): Promise<boolean> {
    const settings = this.#settings.get(message.topic);
    const stopExtending = this.#keep(message);
    try {
      for (let tries = settings?.retryCount ?? 0; ; tries--) {
        try {
          await this.#call(message, settings?.timeoutMs ?? 0);
          break;
        } catch (error) {
          this.#options.onError?.(error, message);
          if (tries <= 0 || this.#stopping.signal.aborted) {
            await this.#settle(message.nack(), message);
            return false;
          }
        }
      }
      await this.#settle(message.ack(), message);
      return true;
    } finally {
      stopExtending();
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

  /** Keeps a message hidden while its handler runs. */
  #keep(message: Delivery): () => void {
    const { deadline } = message;
    if (!deadline) return () => {};
    let timer: ReturnType<typeof setTimeout>;
    const arm = (until: Date): void => {
      timer = setTimeout(
        () => {
          message.extend(this.#options.invisibleMs).then(
            () => arm(message.deadline ?? until),
            () => {}, // the ack tells
          );
        },
        Math.max(1_000, (until.getTime() - Date.now()) / 2),
      );
    };
    arm(deadline);
    return () => clearTimeout(timer);
  }
}

/** Keeps the live settings that a consumer is told of. */
export function keepSettings(
  settings: Map<string, LiveSettings>,
  onEvent: ((event: ConsumerEvent) => void) | undefined,
): (event: ConsumerEvent) => void {
  return (event) => {
    if (event.kind === "settings") {
      settings.clear();
      for (const s of event.settings) settings.set(s.topic, s);
    }
    onEvent?.(event);
  };
}
