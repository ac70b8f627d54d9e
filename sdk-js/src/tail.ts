import type { components } from "./api.gen.js";
import { BucketMQError, canPass, type Gap, invalidArgument } from "./errors.js";
import type { Endpoint } from "./http.js";
import type { Ladder } from "./ladder.js";
import { Message, type WireMessage } from "./message.js";
import { findOffsets } from "./poll.js";
import { Position } from "./position.js";
import type { Start } from "./pull.js";
import { link, pauseMs, sleep } from "./retry.js";
import type { Arrival, TransportName } from "./transport.js";

/** Where a tail is. */
export type TailState =
  | { readonly state: "connecting"; readonly transport: TransportName | undefined }
  | { readonly state: "open"; readonly transport: TransportName }
  | { readonly state: "waiting"; readonly pauseMs: number; readonly error: BucketMQError }
  | { readonly state: "closed" };

/** What to tail. */
export interface TailOptions {
  /** Where to begin. Default `latest`. A cursor is that of another tail of the topic. */
  readonly from?: Start | { readonly cursor: string };
  /** Only these queues. Default all, also ones that come later. */
  readonly queues?: readonly number[];
  /** Only messages with one of these tags: `paid || refunded`. Default all. */
  readonly tags?: string;
  /** Only messages that meet this SQL92 condition: `region = 'eu' AND amount > 100`. Not together with `tags`. */
  readonly sql?: string;
  /** Told about messages that the tail will not carry. Default: the iteration throws `gap`. */
  readonly onGap?: (gap: Gap) => void;
  /** Told how the connection is. Default: nobody is. */
  readonly onState?: (state: TailState) => void;
  /** Stops the tail; the iteration throws its reason. */
  readonly signal?: AbortSignal;
}

const settledAfterMs = 5_000;
const triesOfProven = 3;

/**
 * The messages of a topic as they arrive, over any number of connections.
 * Iterate once; to go on later, start another tail from `cursor`.
 *
 * @example
 * await using tail = mq.topic("orders").tail({ from: { cursor: await load() } });
 * for await (const message of tail) {
 *   await handle(message);
 *   await save(tail.cursor);
 * }
 */
export class Tail implements AsyncIterable<Message>, AsyncDisposable {
  readonly #endpoint: Endpoint;
  readonly #ladder: Ladder;
  readonly #topic: string;
  readonly #options: TailOptions;
  readonly #from: Start;
  readonly #stop: AbortController = new AbortController();
  readonly #messages: AsyncGenerator<Message, void, undefined>;
  #signal: AbortSignal = this.#stop.signal;
  #position: Position | undefined;
  /** Only offsets say where to go on: the tail polls, or started from the cursor of one that did. */
  #exact = false;
  /** The transport that opened last. */
  #last: TransportName | undefined;
  #located: boolean;
  #failures = 0;
  /** Failures to open, in a row, by transport. */
  readonly #strikes: Map<TransportName, number> = new Map();
  #openedAt = 0;

  /** @internal */
  constructor(endpoint: Endpoint, ladder: Ladder, topic: string, options: TailOptions, closed: AbortSignal) {
    this.#endpoint = { ...endpoint, retry: { ...endpoint.retry, attempts: 1 } }; // the tail itself tries again
    this.#ladder = ladder;
    this.#topic = topic;
    this.#options = options;
    const { from = "latest" } = options;
    if (typeof from === "object" && !(from instanceof Date)) {
      this.#position = Position.parse(from.cursor, topic);
      this.#exact = this.#position.cursor === undefined;
      this.#from = "latest";
    } else {
      if (from instanceof Date && Number.isNaN(from.getTime())) throw invalidArgument("from: not a time");
      this.#from = from;
    }
    this.#located = this.#position !== undefined;
    this.#messages = this.#run(closed);
  }

  /** Covers exactly the messages that were yielded; undefined until the start is known. Opaque. */
  get cursor(): string | undefined {
    return this.#located ? this.#position?.toString() : undefined;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Message, void, undefined> {
    return this.#messages;
  }

  /** Ends the tail; its iteration ends quietly. */
  async close(): Promise<void> {
    this.#stop.abort(new BucketMQError("closed", "the tail was closed"));
    await this.#messages.return();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async *#run(closed: AbortSignal): AsyncGenerator<Message, void, undefined> {
    const linked = link(this.#options.signal, closed, this.#stop.signal);
    this.#signal = linked.signal;
    try {
      for (;;) {
        try {
          this.#signal.throwIfAborted();
          yield* this.#connect(await this.#locate());
        } catch (error) {
          await this.#rest(error);
        }
      }
    } catch (error) {
      if (!(error instanceof BucketMQError && error.code === "closed")) throw error;
    } finally {
      linked.release();
      this.#tell({ state: "closed" });
    }
  }

  /** The position, which is found before the first connection: long poll needs it later. */
  async #locate(): Promise<Position> {
    if (this.#position) return this.#position;
    this.#tell({ state: "connecting", transport: undefined });
    const { epoch, items } = await findOffsets(this.#endpoint, this.#topic, this.#from, this.#signal);
    const wanted = items.filter(({ queue }) => this.#options.queues?.includes(queue) ?? true);
    const next = wanted.map(({ queue, offset }): [number, number] => [queue, offset]);
    this.#position = new Position(this.#topic, epoch, next);
    return this.#position;
  }

  /** Tries the transports from the best one down until one opens, and follows that to its end. */
  async *#connect(position: Position): AsyncGenerator<Message, void, undefined> {
    const refused: TransportName[] = [];
    const names = this.#candidates();
    for (const name of names) {
      this.#tell({ state: "connecting", transport: name });
      this.#openedAt = 0;
      try {
        if (yield* this.#follow(name, position, refused)) return;
        throw new BucketMQError("network", "the connection ended");
      } catch (error) {
        if (this.#openedAt > 0 || name === names.at(-1) || !isRefusal(error)) throw error;
        const strikes = (this.#strikes.get(name) ?? 0) + 1;
        this.#strikes.set(name, strikes);
        // One that has worked is given time: then the server is the likelier reason. Not when a lower one has news.
        const climbs = this.#last !== undefined && this.#ladder.isBefore(name, this.#last);
        if (this.#ladder.hasWorked(name) && !climbs && strikes < triesOfProven) throw error;
        refused.push(name);
      }
    }
  }

  #candidates(): readonly TransportName[] {
    // A stream goes on only from a cursor of the server.
    const names = this.#ladder.names.filter((name) => !this.#exact || name !== "sse");
    if (names.length === 0) throw invalidArgument("from.cursor: the transport sse cannot go on from it");
    return this.#ladder.open(names);
  }

  /** Follows one transport to its end; true says that a better one may be had. */
  async *#follow(
    name: TransportName,
    position: Position,
    refused: readonly TransportName[],
  ): AsyncGenerator<Message, boolean, undefined> {
    const transport = this.#ladder.get(name);
    if (!transport) throw invalidArgument(`no transport ${name}`);
    const { queues, tags, sql } = this.#options;
    const signal = this.#signal;
    const from = this.#from;
    const exact = this.#exact;
    const topic = this.#topic;
    for await (const arrival of transport({ topic, queues, tags, sql, from, position, exact, signal })) {
      if (arrival.kind === "open") this.#opened(name, position, refused);
      yield* this.#accept(arrival, position);
      signal.throwIfAborted();
      if (arrival.kind === "alive" && this.#canClimb(name, position)) return true;
    }
    return false;
  }

  /** Whether a transport before this one is not left out any more. */
  #canClimb(name: TransportName, position: Position): boolean {
    if (!this.#exact && position.cursor === undefined) return false; // nothing says yet where to go on
    const [best] = this.#candidates();
    return best !== undefined && this.#ladder.isBefore(best, name);
  }

  #opened(name: TransportName, position: Position, refused: readonly TransportName[]): void {
    this.#openedAt = Date.now();
    this.#located = true;
    this.#last = name;
    this.#strikes.clear();
    if (name === "long-poll") {
      this.#exact = true;
      position.cursor = undefined; // it would stay behind
    }
    this.#ladder.opened(name, refused);
    this.#tell({ state: "open", transport: name });
  }

  *#accept(arrival: Arrival, position: Position): Generator<Message, void, undefined> {
    switch (arrival.kind) {
      case "messages":
        this.#failures = 0;
        yield* this.#take(arrival.items, position);
        this.#mark(arrival.cursor, position);
        break;
      case "gap":
        this.#announce(arrival.gap, arrival.cursor, position);
        break;
      case "cursor":
        this.#mark(arrival.cursor, position);
        break;
      case "skip":
        position.skip(arrival.queue, arrival.to);
        break;
      default: // open and alive say nothing about messages
    }
  }

  #mark(cursor: string | undefined, position: Position): void {
    if (cursor === undefined) return;
    position.cursor = cursor;
    this.#exact = false;
  }

  *#take(items: readonly WireMessage[], position: Position): Generator<Message, void, undefined> {
    for (const item of items) if (position.take(item)) yield new Message(item, this.#topic);
  }

  #announce(wire: components["schemas"]["Gap"], cursor: string | undefined, position: Position): void {
    const gap = position.jump(wire);
    this.#mark(cursor, position);
    if (!gap) return;
    if (this.#options.onGap) {
      this.#options.onGap(gap);
      return;
    }
    const what = `queue ${gap.queue} of ${this.#topic} goes on at ${gap.to} instead of ${gap.from}: ${gap.reason}`;
    throw new BucketMQError("gap", what, { definite: true, gap });
  }

  /** Waits before the next try, or throws what no retry heals. */
  async #rest(reason: unknown): Promise<void> {
    if (!(reason instanceof BucketMQError) || this.#signal.aborted || !heals(reason)) throw reason;
    if (this.#openedAt > 0 && Date.now() - this.#openedAt >= settledAfterMs) this.#failures = 0;
    this.#failures++;
    const { baseMs, tailCapMs } = this.#endpoint.retry;
    const pause = pauseMs(this.#failures, baseMs, tailCapMs, reason);
    this.#tell({ state: "waiting", pauseMs: pause, error: reason });
    await sleep(pause, this.#signal);
  }

  #tell(state: TailState): void {
    this.#options.onState?.(state);
  }
}

/** Whether a transport could not be opened for a reason of its own. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof BucketMQError)) return false;
  return error.code === "network" || error.code === "timeout" || error.code === "unsupported_protocol";
}

function heals(error: BucketMQError): boolean {
  return canPass(error) || error.status >= 500;
}
