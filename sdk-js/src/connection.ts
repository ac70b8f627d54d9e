import type { components } from "./api.gen.js";
import { Backlog } from "./backlog.js";
import { bodyBytes } from "./bytes.js";
import type { ConsumeArrival, ConsumeWanted } from "./consuming.js";
import { BucketMQError, problemError } from "./errors.js";
import { Inbox } from "./inbox.js";
import { findOffsets, meetEpoch } from "./poll.js";
import { timeOf } from "./publish.js";
import { giveBack, isOrdered, receiptSettler } from "./receipts.js";
import { link, sleep } from "./retry.js";
import { consumeOf, firstOf, socketSettler } from "./settle.js";
import type { SocketOptions, WebSocketLike } from "./socket.js";
import type { Arrival, Wanted } from "./transport.js";
import type { Credit, OkOp, ServerOp } from "./wire.js";

type Schemas = components["schemas"];

const protocol = "bmq.v1.json";
const openWithinMs = 10_000;
const pongWithinMs = 10_000;
/** How long the answer to the end of a subscription is waited for. */
const endWithinMs = 1_000;
/** What a subscription may be sent before the consumer takes it. */
const window: Credit = { messages: 512, bytes: 4 << 20 };
const nothing: Credit = { messages: 0, bytes: 0 };

/** One WebSocket from its handshake to its end. */
export class Connection {
  readonly #options: SocketOptions;
  readonly #socket: WebSocketLike;
  readonly #inboxes = new Map<string, Inbox>();
  /** Operations that are waited for, by id. */
  readonly #asked = new Map<string, Asked>();
  #count = 0;
  #open = false;
  #failure: BucketMQError | undefined;
  #limits: Credit = window;
  #heardAt: number = Date.now();
  #silenceMs: number = openWithinMs;
  #watch: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
    const url = new URL("v1/ws", options.endpoint.base);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new options.WebSocket(url.href, [protocol]);
    this.#socket.onopen = () => void this.#greet();
    this.#socket.onmessage = (event: { readonly data: unknown }) => this.#receive(event.data);
    this.#socket.onerror = () => {}; // close follows and says as much
    this.#socket.onclose = (event: { readonly code: number; readonly reason: string }) =>
      this.#fail(closeError(event));
    this.#arm();
  }

  /** Whether new subscriptions can join. */
  get usable(): boolean {
    return this.#failure === undefined;
  }

  async *subscribe(wanted: Wanted): AsyncGenerator<Arrival, void, undefined> {
    const sub = `s${++this.#count}`;
    const inbox = new Inbox();
    this.#inboxes.set(sub, inbox);
    const stop = link(wanted.signal);
    stop.signal.addEventListener("abort", () => inbox.fail(stop.signal.reason), { once: true });
    if (stop.signal.aborted) inbox.fail(stop.signal.reason);
    try {
      await inbox.take("so", () => this.#open);
      const left = { messages: 0, bytes: 0 };
      const exact = wanted.exact && wanted.position.cursor === undefined;
      this.#send({ op: "subscribe", id: sub, ...subscribeTo(sub, wanted, exact ? nothing : this.#limits) });
      for (let seq = 0; ; ) {
        const op = await inbox.take();
        if (op.op === "messages" && op.seq !== ++seq) {
          throw new BucketMQError("invalid_answer", `batch ${op.seq} came instead of ${seq}`);
        }
        if (op.op === "subscribed" && exact) yield* this.#locate(sub, wanted);
        else yield* arrivals(op);
        if (op.op !== "messages") continue;
        left.messages += op.items.length;
        for (const item of op.items) left.bytes += bodyBytes(item);
        if (left.messages * 4 >= this.#limits.messages || left.bytes * 4 >= this.#limits.bytes) {
          this.#send({ op: "credit", sub, ...left });
          left.messages = left.bytes = 0;
        }
      }
    } finally {
      stop.release();
      this.#inboxes.delete(sub);
      if (this.#inboxes.size === 0) this.leave();
      else if (this.#open) this.#send({ op: "unsubscribe", sub });
    }
  }

  /** Consumes for a group. */
  async *consume(wanted: ConsumeWanted): AsyncGenerator<ConsumeArrival, void, undefined> {
    const sub = `g${++this.#count}`;
    const backlog = new Backlog(sub, wanted, (op) => this.#send(op));
    this.#inboxes.set(sub, backlog);
    const stop = link(wanted.signal);
    stop.signal.addEventListener("abort", () => backlog.fail(stop.signal.reason), { once: true });
    if (stop.signal.aborted) backlog.fail(stop.signal.reason);
    const settler = socketSettler(backlog, (op) => this.#ask({ ...op, sub }));
    // Receipts of mode shared are good anywhere, so what this socket cannot say any more is said without it.
    const anywhere = receiptSettler(this.#options.endpoint, wanted.group, new AbortController().signal);
    let ended = false;
    const gone = (): boolean => this.#failure !== undefined || ended;
    const settlers = wanted.mode === "shared" ? firstOf(settler, anywhere, gone) : settler;
    try {
      await backlog.take("so", () => this.#open);
      if (wanted.mode === "shared") {
        // What `subscribed` says of the order is for members.
        backlog.ordered = await isOrdered(this.#options.endpoint, wanted);
      }
      const credit = { messages: wanted.prefetch, bytes: this.#limits.bytes };
      const left = { messages: 0, bytes: 0 };
      this.#send({ op: "subscribe", id: sub, ...consumeOf(sub, wanted, credit) });
      for (;;) {
        const next = await backlog.next();
        if (next.kind === "gap") {
          yield next;
          continue;
        }
        yield { ...next, settler: settlers };
        // Credit comes back once the program wants the next message.
        left.messages += 1;
        left.bytes += bodyBytes(next.wire);
        if (left.messages * 4 < credit.messages && left.bytes * 4 < credit.bytes) continue;
        this.#send({ op: "credit", sub, ...left });
        left.messages = left.bytes = 0;
      }
    } finally {
      stop.release();
      ended = true;
      if (this.#open) backlog.leave();
      if (this.#open && wanted.mode === "shared") await this.#endShared(sub, backlog, wanted.group);
      else if (this.#open && this.#inboxes.size > 1) this.#send({ op: "unsubscribe", sub });
      this.#inboxes.delete(sub);
      if (this.#inboxes.size === 0) this.leave();
    }
  }

  /** Brings the checks of a producer group. */
  async *produce(
    group: string,
    signal: AbortSignal,
  ): AsyncGenerator<Schemas["Transaction"] | undefined, void, undefined> {
    const name = `tx ${group}`;
    const inbox = new Inbox();
    this.#inboxes.set(name, inbox);
    const stop = link(signal);
    stop.signal.addEventListener("abort", () => inbox.fail(stop.signal.reason), { once: true });
    if (stop.signal.aborted) inbox.fail(stop.signal.reason);
    try {
      await inbox.take("so", () => this.#open);
      await this.#ask({ op: "producer", group });
      yield undefined;
      for (;;) {
        const op = await inbox.take();
        if (op.op === "tx_check") yield op.transaction;
      }
    } finally {
      stop.release();
      this.#inboxes.delete(name);
      if (this.#inboxes.size === 0) this.leave();
      else if (this.#open) this.#send({ op: "producer", group, stop: true });
    }
  }

  /** Ends a subscription of mode shared. What was under way has come before the answer, and goes back, too. */
  async #endShared(sub: string, backlog: Backlog, group: string): Promise<void> {
    const ended = new AbortController();
    const answered = this.#ask({ op: "unsubscribe", sub }).catch(() => {}); // then it has ended already
    await Promise.race([answered, sleep(endWithinMs, ended.signal).catch(() => {})]);
    ended.abort();
    await giveBack(this.#options.endpoint, group, backlog.rest());
  }

  /** Sends an operation and waits for its answer. */
  #ask(op: Readonly<Record<string, unknown>>): Promise<OkOp> {
    return new Promise((resolve, reject) => {
      if (this.#failure) {
        reject(this.#failure);
        return;
      }
      const id = `a${++this.#count}`;
      this.#asked.set(id, { resolve, reject });
      this.#send({ ...op, id });
    });
  }

  #answer(id: string | undefined): Asked | undefined {
    const asked = id === undefined ? undefined : this.#asked.get(id);
    if (id !== undefined) this.#asked.delete(id);
    return asked;
  }

  /** Moves a new subscription, which has no credit yet, to the offsets of the position. */
  async *#locate(sub: string, wanted: Wanted): AsyncGenerator<Arrival, void, undefined> {
    const { topic, position } = wanted;
    // Only after subscribing: from then on the server itself announces a new epoch.
    const ends = await findOffsets(this.#options.endpoint, topic, "latest", wanted.signal);
    yield { kind: "open" };
    yield* meetEpoch(wanted, ends);
    for (const queue of position.queues()) {
      this.#send({ op: "seek", id: sub, sub, topic, queue, to: { offset: position.next(queue) } });
    }
    this.#send({ op: "credit", sub, ...this.#limits });
  }

  /** Closes the socket in order. */
  leave(): void {
    if (this.#open) {
      for (const inbox of this.#inboxes.values()) inbox.leave();
      this.#send({ op: "bye" });
    }
    this.#fail(new BucketMQError("closed", "the socket is not needed any more"));
  }

  async #greet(): Promise<void> {
    if (this.#socket.protocol !== protocol) {
      this.#fail(new BucketMQError("unsupported_protocol", `the server does not speak ${protocol}`));
      return;
    }
    try {
      const token = await this.#options.endpoint.token();
      this.#send({
        op: "hello",
        id: "hello",
        client: this.#options.client,
        ...(token === undefined ? {} : { token }),
      });
    } catch (error) {
      this.#fail(asError(error));
    }
  }

  #receive(data: unknown): void {
    this.#heardAt = Date.now();
    if (this.#failure) return;
    let op: ServerOp;
    try {
      op = JSON.parse(String(data)) as ServerOp;
    } catch (cause) {
      this.#fail(new BucketMQError("invalid_answer", "a frame is not JSON", { cause }));
      return;
    }
    switch (op.op) {
      case "welcome":
        this.#limits = {
          messages: Math.min(window.messages, op.limits.credit_messages),
          bytes: Math.min(window.bytes, op.limits.credit_bytes),
        };
        this.#silenceMs = op.heartbeat_ms + pongWithinMs;
        this.#open = true;
        for (const inbox of this.#inboxes.values()) inbox.wake();
        return;
      case "ping":
        this.#send({ op: "pong", n: op.n });
        return;
      case "goaway":
        this.#fail(
          new BucketMQError("network", `the server goes away: ${op.reason}`, {
            retryAfterMs: op.reconnect_after_ms,
          }),
        );
        return;
      case "error":
        if (!this.#open) this.#fail(socketProblem(op.problem));
        else if (op.id !== undefined && this.#asked.has(op.id))
          this.#answer(op.id)?.reject(socketProblem(op.problem));
        else if (op.id !== undefined) this.#inboxes.get(op.id)?.fail(socketProblem(op.problem));
        return;
      case "unsubscribed":
        this.#inboxes.get(op.sub)?.fail(socketProblem(op.problem));
        return;
      case "ok":
        this.#answer(op.id)?.resolve(op);
        return;
      case "tx_check":
        this.#inboxes.get(`tx ${op.transaction.producer_group}`)?.put(op);
        return;
      case "subscribed":
      case "messages":
      case "gap":
      case "assigned":
      case "revoking":
      case "revoked":
      case "settings":
      case "stalled":
        this.#inboxes.get(op.sub)?.put(op);
        return;
      default: // what a newer server says besides
    }
  }

  #send(op: Readonly<Record<string, unknown>>): void {
    if (!this.#failure) this.#socket.send(JSON.stringify(op));
  }

  #fail(error: BucketMQError): void {
    if (this.#failure) return;
    this.#failure = error;
    this.#open = false;
    clearTimeout(this.#watch);
    for (const inbox of this.#inboxes.values()) inbox.fail(error);
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
    this.#socket.close(1000);
  }

  /** Looks, when silence would be too long, whether it was. */
  #arm(): void {
    const left = this.#heardAt + this.#silenceMs - Date.now();
    if (left > 0) {
      this.#watch = setTimeout(() => this.#arm(), left);
      return;
    }
    const what = this.#open ? "nothing came" : "the socket did not open";
    this.#fail(new BucketMQError("timeout", `${what} within ${this.#silenceMs} ms`));
  }
}

function subscribeTo(sub: string, wanted: Wanted, credit: Credit): Record<string, unknown> {
  const { topic, queues, tags, sql, from, position, exact } = wanted;
  let start: Record<string, string>;
  if (position.cursor !== undefined) start = { cursor: position.cursor };
  // Queues that the position does not know are newer than it, so they begin at their start.
  else if (exact) start = { position: "earliest" };
  else start = from instanceof Date ? { timestamp: timeOf(from, "from") } : { position: from };
  return {
    sub,
    mode: "tail",
    topics: [
      {
        topic,
        ...(queues === undefined ? {} : { queues }),
        ...(tags === undefined ? {} : { tags }),
        ...(sql === undefined ? {} : { sql }),
      },
    ],
    from: start,
    credit,
  };
}

function* arrivals(op: ServerOp): Generator<Arrival, void, undefined> {
  if (op.op === "subscribed") {
    yield { kind: "open" };
    for (const gap of op.gap ?? []) yield { kind: "gap", gap };
    if (op.cursor !== undefined) yield { kind: "cursor", cursor: op.cursor };
  } else if (op.op === "messages") {
    yield { kind: "messages", items: op.items, cursor: op.cursor };
  } else if (op.op === "gap") {
    yield { kind: "gap", gap: op };
  }
}

/** Who waits for the answer to an operation. */
interface Asked {
  resolve(ok: OkOp): void;
  reject(error: BucketMQError): void;
}

function socketProblem(problem: unknown): BucketMQError {
  return problemError(problem) ?? new BucketMQError("invalid_answer", "a problem without a code");
}

const finalCodes: Readonly<Record<number, string>> = {
  4501: "unauthenticated",
  4503: "permission_denied",
  4504: "origin_denied",
  4510: "unsupported_protocol",
};

function closeError({ code, reason }: { readonly code: number; readonly reason: string }): BucketMQError {
  const name = code >= 4500 && code < 5000 ? (finalCodes[code] ?? `closed_${code}`) : "network";
  return new BucketMQError(name, `the socket was closed: ${code} ${reason}`.trimEnd(), { definite: true });
}

function asError(error: unknown): BucketMQError {
  return error instanceof BucketMQError
    ? error
    : new BucketMQError("network", "the socket failed", { cause: error });
}
