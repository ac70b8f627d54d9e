import type { components } from "./api.gen.js";
import type {
  ConsumeArrival,
  ConsumeMode,
  ConsumerEvent,
  ConsumeSource,
  ConsumeWanted,
} from "./consuming.js";
import { Delivery } from "./delivery.js";
import { BucketMQError, canPass, type Gap, invalidArgument } from "./errors.js";
import type { Endpoint } from "./http.js";
import { randomKey } from "./publish.js";
import { link, pauseMs, sleep } from "./retry.js";
import { topicPath } from "./topics.js";

/** What to consume. */
export interface ConsumeOptions {
  /** Only messages with one of these tags: `paid || refunded`. Default all. */
  readonly tags?: string;
  /** Only messages that meet this SQL92 condition. Not together with `tags`. */
  readonly sql?: string;
  /**
   * `group`: the messages of the queues that this consumer owns. `broadcast`: every message of a broadcasting
   * group. `shared`: messages of any queue, hidden from others for a time. Default `group`.
   */
  readonly mode?: ConsumeMode;
  /** The name of this consumer, under which a broadcasting group keeps its progress. Default one that is made. */
  readonly clientId?: string;
  /** One batch of a queue at a time; also without it in an ordered group. Default false. */
  readonly ordered?: boolean;
  /** Mode shared: how long messages are hidden. Default the group's. */
  readonly invisibleMs?: number;
  /**
   * Messages that may be under way to the program, 1 to 1000. Default 32; in mode shared 1, because what waits for the
   * program is hidden from others meanwhile.
   */
  readonly prefetch?: number;
  /** Told about messages that cannot be had any more. Default: the iteration throws `gap`. */
  readonly onGap?: (gap: Gap & { readonly topic: string }) => void;
  /** Told what happens besides messages. Default: nobody is. */
  readonly onEvent?: (event: ConsumerEvent) => void;
  /** Stops the consumer; the iteration throws its reason. */
  readonly signal?: AbortSignal;
}

/** A topic, and what of it. */
export interface TopicSelection {
  readonly topic: string;
  readonly tags?: string;
  readonly sql?: string;
}

/** Sources by what they need, best first. */
export interface ConsumeSources {
  readonly websocket: ConsumeSource | undefined;
  readonly http: ConsumeSource | undefined;
}

/** For how long WebSocket is left out once it could not be opened. */
const refusedForMs = 300_000;
const settledAfterMs = 5_000;

/**
 * Messages of a group, over any number of connections. Iterate once. Each message is delivered until it is finished
 * with `ack`, by this consumer or another.
 */
export class Consumer implements AsyncIterable<Delivery>, AsyncDisposable {
  readonly #endpoint: Endpoint;
  readonly #sources: ConsumeSources;
  readonly #options: ConsumeOptions;
  readonly #wanted: Omit<ConsumeWanted, "signal">;
  readonly #stop: AbortController = new AbortController();
  readonly #messages: AsyncGenerator<Delivery, void, undefined>;
  readonly #ended: () => void;
  #refusedUntil = 0;
  #failures = 0;
  #openedAt = 0;

  /** @internal */
  constructor(
    endpoint: Endpoint,
    sources: ConsumeSources,
    group: string,
    topics: readonly TopicSelection[],
    options: ConsumeOptions,
    closed: AbortSignal,
    ended: () => void,
  ) {
    this.#endpoint = { ...endpoint, retry: { ...endpoint.retry, attempts: 1 } }; // the consumer itself tries again
    this.#sources = sources;
    this.#options = options;
    const { mode = "group", ordered = false, invisibleMs } = options;
    const { prefetch = mode === "shared" ? 1 : 32 } = options;
    if (!Number.isInteger(prefetch) || prefetch < 1 || prefetch > 1000)
      throw invalidArgument("prefetch: 1 to 1000");
    if (topics.length === 0) throw invalidArgument("topics: at least one");
    this.#wanted = {
      group,
      mode,
      ordered,
      invisibleMs,
      prefetch,
      clientId: options.clientId ?? `sdk-${randomKey()}`,
      sessionKey: randomKey(),
      tell: (event) => this.#tell(event),
      reached: {},
      topics: topics.map(({ topic, tags, sql }) => ({
        topic: topicPath(topic),
        ...(tags === undefined ? {} : { tags }),
        ...(sql === undefined ? {} : { sql }),
      })),
    };
    this.#ended = ended;
    this.#messages = this.#run(closed);
  }

  /** The name of this consumer in the group. */
  get clientId(): string {
    return this.#wanted.clientId;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Delivery, void, undefined> {
    return this.#messages;
  }

  /** Ends the consumer and leaves the group; its iteration ends quietly. */
  async close(): Promise<void> {
    this.#stop.abort(new BucketMQError("closed", "the consumer was closed"));
    await this.#messages.return();
    this.#ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#run(closed: AbortSignal): AsyncGenerator<Delivery, void, undefined> {
    const linked = link(this.#options.signal, closed, this.#stop.signal);
    const { signal } = linked;
    try {
      for (;;) {
        try {
          signal.throwIfAborted();
          yield* this.#connect({ ...this.#wanted, signal });
        } catch (error) {
          await this.#rest(error, signal);
        }
      }
    } catch (error) {
      if (!(error instanceof BucketMQError && error.code === "closed")) throw error;
    } finally {
      linked.release();
      this.#ended();
    }
  }

  async *#connect(wanted: ConsumeWanted): AsyncGenerator<Delivery, void, undefined> {
    const { websocket, http } = this.#sources;
    const refused = http !== undefined && Date.now() < this.#refusedUntil;
    this.#openedAt = 0;
    if (websocket && !refused) {
      try {
        yield* this.#follow(websocket, wanted);
        return;
      } catch (error) {
        if (this.#openedAt > 0 || !http || !isRefusal(error)) throw error;
        this.#refusedUntil = Date.now() + refusedForMs;
      }
    }
    if (!http) throw invalidArgument("transports: none that can consume for a group");
    yield* this.#follow(http, wanted);
  }

  async *#follow(source: ConsumeSource, wanted: ConsumeWanted): AsyncGenerator<Delivery, void, undefined> {
    for await (const arrival of source(wanted)) {
      yield* this.#accept(arrival);
      wanted.signal.throwIfAborted();
    }
    throw new BucketMQError("network", "the connection ended");
  }

  *#accept(arrival: ConsumeArrival): Generator<Delivery, void, undefined> {
    if (arrival.kind === "gap") {
      this.#lost(arrival.gap);
      return;
    }
    this.#failures = 0;
    const { wire } = arrival;
    yield new Delivery(wire, wire.origin?.topic ?? wire.topic ?? "", arrival.settler);
  }

  #tell(event: ConsumerEvent): void {
    if (event.kind === "open") this.#openedAt = Date.now();
    this.#options.onEvent?.(event);
  }

  #lost(wire: components["schemas"]["Gap"]): void {
    const gap = {
      topic: wire.topic ?? "",
      queue: wire.queue,
      from: wire.from,
      to: wire.to,
      reason: wire.reason,
    };
    if (this.#options.onGap) {
      this.#options.onGap(gap);
      return;
    }
    const what = `queue ${gap.queue} of ${gap.topic} goes on at ${gap.to} instead of ${gap.from}: ${gap.reason}`;
    throw new BucketMQError("gap", what, { definite: true, gap });
  }

  /** Waits before the next try, or throws what no retry heals. */
  async #rest(reason: unknown, signal: AbortSignal): Promise<void> {
    if (!(reason instanceof BucketMQError) || signal.aborted || !heals(reason)) throw reason;
    if (this.#openedAt > 0 && Date.now() - this.#openedAt >= settledAfterMs) this.#failures = 0;
    this.#failures++;
    const { baseMs, tailCapMs } = this.#endpoint.retry;
    const pause = pauseMs(this.#failures, baseMs, tailCapMs, reason);
    this.#options.onEvent?.({ kind: "waiting", pauseMs: pause, error: reason });
    await sleep(pause, signal);
  }
}

/** Whether WebSocket could not be opened for a reason of its own. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof BucketMQError)) return false;
  return error.code === "network" || error.code === "timeout" || error.code === "unsupported_protocol";
}

function heals(error: BucketMQError): boolean {
  return (
    canPass(error) ||
    error.status >= 500 ||
    error.code === "member_unknown" ||
    error.code === "generation_stale"
  );
}
