import type { components } from "./api.gen.js";
import { BucketMQError, invalidArgument, type SendResult } from "./errors.js";
import { type Endpoint, request } from "./http.js";
import { Outbox, type OutboxLimits, type Pending } from "./outbox.js";
import { encodeMessage, type MessageOptions, outcomesOf, randomKey } from "./publish.js";

type Schemas = components["schemas"];

/** How a producer gathers messages. */
export interface ProducerOptions {
  /** How long a message waits for others to go with it. Default 5. */
  readonly lingerMs?: number;
  /** Messages of one request, 1 to 1000. Default 1000. */
  readonly maxMessages?: number;
  /** Bytes of one request, at most 4 MiB; a larger message goes alone. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Bytes that may wait; above it `send` fails with `buffer_full`, see `ready`. Default 64 MiB. */
  readonly maxPendingBytes?: number;
  /** Names the producer, 1 to 128 characters; one that starts later with the same name replaces it. Default: a random one. */
  readonly id?: string;
  /** Rises with each start of the same `id`. Default: the time. */
  readonly epoch?: number;
}

/** What a producer needs of its topic. */
export interface ProducerContext {
  readonly endpoint: Endpoint;
  readonly topic: string;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  /** Aborts when sends must not wait any longer. */
  readonly cut: AbortSignal;
  /** Counts what the client's close waits for. */
  track<T>(work: Promise<T>): Promise<T>;
}

/**
 * Sends messages in batches, in the order of the calls, one request at a time.
 * The requests are numbered, so that repeating one never stores a message twice.
 *
 * @example
 * await using producer = mq.topic("orders").producer({ lingerMs: 10 });
 * const sent = orders.map((order) => producer.send(order, { orderingKey: order.customer }));
 * await Promise.all(sent); // all are durable
 */
export class Producer implements AsyncDisposable {
  readonly #context: ProducerContext;
  readonly #id: string;
  readonly #outbox: Outbox;
  #epoch: number;
  /** Of the next request. */
  #seq = 0;
  #runs = false;
  #end: BucketMQError | undefined;

  /** @internal */
  constructor(context: ProducerContext, options: ProducerOptions) {
    const { id, epoch, ...limits } = checked(options);
    this.#context = context;
    this.#id = id;
    this.#epoch = epoch;
    this.#outbox = new Outbox(limits, context.closed);
  }

  /**
   * Resolves when the message is durable. A string is text, bytes are bytes, null is a tombstone, everything else
   * is sent as JSON, as it is now. The signal stops the wait; a message that was sent may still be stored.
   */
  async send(
    value: unknown,
    options: MessageOptions & { readonly signal?: AbortSignal } = {},
  ): Promise<SendResult> {
    if (this.#context.closed.aborted) throw this.#context.closed.reason;
    if (this.#end) throw this.#end;
    const { signal, ...rest } = options;
    signal?.throwIfAborted();
    const result = this.#outbox.add(encodeMessage({ ...rest, body: value }), signal);
    if (!this.#runs) void this.#context.track(this.#run());
    return result;
  }

  /** Resolves when there is room for more; for senders that do not await each `send`. */
  async ready(): Promise<void> {
    await this.#outbox.room();
  }

  /** Sends what waits at once; resolves when each `send` of before has resolved or rejected. */
  async flush(): Promise<void> {
    await this.#outbox.flush();
  }

  /** Flushes, and takes nothing more. */
  async close(): Promise<void> {
    this.#end ??= new BucketMQError("closed", "the producer is closed", { definite: true });
    await this.flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Sends batch after batch until nothing waits. */
  async #run(): Promise<void> {
    this.#runs = true;
    while (!this.#outbox.empty) {
      await this.#store(await this.#outbox.take());
      this.#outbox.settled();
    }
    this.#runs = false;
  }

  /** Settles every message of a batch. Never rejects. */
  async #store(batch: readonly Pending[]): Promise<void> {
    let left = batch;
    for (let gaps = 0; left.length > 0; ) {
      try {
        if (this.#end?.code === "producer_fenced") throw this.#end;
        this.#settle(left, await this.#post(left));
        return;
      } catch (error) {
        const faulty = faultyOf(error, left.length);
        const missing = error instanceof BucketMQError && error.code === "producer_gap" && gaps++ === 0;
        if (faulty.size === 0 && !missing) {
          this.#fail(left, error);
          return;
        }
        // Nothing was stored: the others go again, under the same number.
        for (const at of faulty) left[at]?.reject(error);
        left = left.filter((_, at) => !faulty.has(at));
        if (missing) this.#renew();
      }
    }
  }

  #settle(batch: readonly Pending[], answer: Schemas["SendResult"] | undefined): void {
    const outcomes = outcomesOf(answer, batch.length);
    this.#seq++;
    for (const [at, outcome] of outcomes.entries()) {
      if (outcome.stored) batch[at]?.resolve(outcome.result);
      else batch[at]?.reject(outcome.error);
    }
    if (outcomes.some(({ stored }) => !stored)) this.#renew();
  }

  #fail(batch: readonly Pending[], error: unknown): void {
    if (!(error instanceof BucketMQError && error.definite)) {
      this.#renew(); // whether the server counted this request is not known
    } else if (error.code === "producer_fenced") {
      this.#end = error;
    }
    for (const pending of batch) pending.reject(error);
  }

  /** Goes on under a higher epoch, in which numbers begin again; what is still on its way is refused then. */
  #renew(): void {
    this.#epoch++;
    this.#seq = 0;
  }

  async #post(batch: readonly Pending[]): Promise<Schemas["SendResult"] | undefined> {
    const producer = JSON.stringify({ id: this.#id, epoch: this.#epoch, seq: this.#seq });
    const messages = batch.map(({ json }) => json).join(",");
    const { body } = await request<Schemas["SendResult"]>(this.#context.endpoint, {
      method: "POST",
      path: `v1/topics/${this.#context.topic}/messages`,
      headers: { "Content-Type": "application/json" },
      body: `{"messages":[${messages}],"producer":${producer}}`,
      safety: "keyed",
      signal: this.#context.cut,
    });
    return body;
  }
}

/** The messages that are the only reason of an error after which nothing is stored. */
function faultyOf(error: unknown, count: number): ReadonlySet<number> {
  if (!(error instanceof BucketMQError) || !error.definite || error.retryable) return new Set();
  const places = error.items.map(({ pointer }) => Number(/^\/messages\/(\d+)(?:\/|$)/.exec(pointer)?.[1]));
  return places.every((at) => at < count) ? new Set(places) : new Set();
}

function checked(options: ProducerOptions): OutboxLimits & { readonly id: string; readonly epoch: number } {
  const all = {
    lingerMs: 5,
    maxMessages: 1000,
    maxBytes: 1 << 20,
    maxPendingBytes: 64 << 20,
    id: options.id ?? randomKey(),
    epoch: Date.now(),
    ...options,
  };
  if (!(all.lingerMs >= 0 && all.lingerMs <= 60_000)) throw invalidArgument("lingerMs: 0 to 60000");
  if (!Number.isInteger(all.maxMessages) || all.maxMessages < 1 || all.maxMessages > 1000)
    throw invalidArgument("maxMessages: 1 to 1000");
  if (!(all.maxBytes >= 1 && all.maxBytes <= 4 << 20)) throw invalidArgument("maxBytes: 1 to 4 MiB");
  if (!(all.maxPendingBytes >= 1)) throw invalidArgument("maxPendingBytes: at least 1");
  if (all.id.length < 1 || all.id.length > 128) throw invalidArgument("id: 1 to 128 characters");
  if (!Number.isSafeInteger(all.epoch) || all.epoch < 0)
    throw invalidArgument("epoch: a whole number from 0");
  return all;
}
