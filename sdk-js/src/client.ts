import { type Checker, type CheckSources, pollChecks } from "./checker.js";
import type { ConsumeSources } from "./consumer.js";
import { BucketMQError, invalidArgument } from "./errors.js";
import { type Consuming, Group } from "./group.js";
import { Groups, groupPath } from "./groups.js";
import type { Endpoint } from "./http.js";
import { Ladder } from "./ladder.js";
import { poll } from "./member.js";
import { pollTransport } from "./poll.js";
import { receive } from "./receipts.js";
import { answer, type ReplyOptions } from "./replies.js";
import { link, type RetryOptions, retryPolicy } from "./retry.js";
import { SocketHub, type WebSocketConstructor } from "./socket.js";
import { sseTransport } from "./sse.js";
import { Topic } from "./topic.js";
import { Topics, topicPath } from "./topics.js";
import { Transactions } from "./transactions.js";
import type { Transport, TransportName } from "./transport.js";

/** How to reach a server. */
export interface ConnectOptions {
  /** The bearer token, or what gets one; asked before every request. Default none. */
  readonly token?: string | (() => string | Promise<string>);
  /** Default the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Default the global `WebSocket`; Node 20 has none, so pass that of the package `ws`. */
  readonly WebSocket?: WebSocketConstructor;
  /** What tails may use, best first. Default all: `websocket`, `sse`, `long-poll`. Groups use `websocket` and `long-poll`. */
  readonly transports?: readonly TransportName[];
  /** How long one try of a request may take. Default 30 000. */
  readonly timeoutMs?: number;
  readonly retry?: RetryOptions;
  /** What this program is, for the server's logs. Default `sdk-js`. */
  readonly client?: string;
}

/**
 * A client of the server at `url`. Nothing is sent before something is asked of it.
 *
 * @example
 * await using mq = connect("https://mq.example.com", { token: () => fetchToken() });
 * await mq.topic("orders").send({ orderId: 42 });
 */
export function connect(url: string | URL, options: ConnectOptions = {}): Client {
  return new Client(url, options);
}

/** A connection to a server; `connect` makes it. */
export class Client implements AsyncDisposable {
  /** Makes, changes, lists and deletes topics. */
  readonly topics: Topics;
  /** Makes, changes, lists and deletes consumer groups. */
  readonly groups: Groups;
  readonly #endpoint: Endpoint;
  readonly #ladder: Ladder;
  readonly #sockets: SocketHub | undefined;
  readonly #sources: ConsumeSources;
  readonly #closed: AbortController = new AbortController();
  readonly #cut: AbortController = new AbortController();
  readonly #sends: Set<Promise<unknown>> = new Set();
  readonly #consumers: Set<Consuming> = new Set();
  readonly #checkSources: CheckSources;
  readonly #checkers: Set<Checker> = new Set();

  /** @internal */
  constructor(url: string | URL, options: ConnectOptions) {
    const base = baseOf(url);
    const token = tokenOf(options.token);
    const globalFetch = (input: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
      fetch(input, init);
    const { timeoutMs = 30_000, client = "sdk-js" } = options;
    if (!(timeoutMs > 0)) throw invalidArgument("timeoutMs: above 0");
    this.#endpoint = {
      base,
      fetch: options.fetch ?? globalFetch,
      token,
      timeoutMs,
      retry: retryPolicy(options.retry),
    };
    const WebSocket = options.WebSocket ?? (globalThis.WebSocket as WebSocketConstructor | undefined);
    this.#sockets = WebSocket && new SocketHub({ endpoint: this.#endpoint, WebSocket, client });
    this.#ladder = new Ladder(this.#transports(options.transports));
    this.topics = new Topics(this.#endpoint, this.#closed.signal);
    this.groups = new Groups(this.#endpoint, this.#closed.signal);
    const { transports = ["websocket", "long-poll"] } = options;
    this.#sources = {
      websocket: transports.includes("websocket") ? this.#sockets?.consume : undefined,
      http: transports.includes("long-poll")
        ? (wanted) => (wanted.mode === "shared" ? receive : poll)(this.#endpoint, wanted)
        : undefined,
    };
    this.#checkSources = {
      websocket: transports.includes("websocket") ? this.#sockets?.produce : undefined,
      http: transports.includes("long-poll") ? pollChecks(this.#endpoint) : undefined,
    };
  }

  /**
   * Replies to a request, which is a message with `replyTo`. The first reply counts: `already_replied`, and
   * `request_over` once nobody waits.
   *
   * @example
   * if (message.replyTo) await mq.reply(message.replyTo, { price: 7 });
   */
  async reply(replyTo: string, value: unknown, options: ReplyOptions = {}): Promise<void> {
    if (this.#closed.signal.aborted) throw this.#closed.signal.reason;
    const linked = link(options.signal, this.#cut.signal);
    try {
      await this.#track(answer(this.#endpoint, replyTo, value, options, linked.signal));
    } finally {
      linked.release();
    }
  }

  /** One topic. Whether it exists shows when it is used. */
  topic(name: string): Topic {
    return new Topic(topicPath(name), {
      endpoint: this.#endpoint,
      ladder: this.#ladder,
      closed: this.#closed.signal,
      cut: this.#cut.signal,
      track: (send) => this.#track(send),
    });
  }

  /** One consumer group. Whether it exists shows when it is used. */
  group(name: string): Group {
    return new Group(groupPath(name), {
      endpoint: this.#endpoint,
      sources: this.#sources,
      closed: this.#closed.signal,
      cut: this.#cut.signal,
      consumers: this.#consumers,
    });
  }

  /** The transactions of one producer group: messages of several topics that become readable together, or never. */
  transactions(group: string): Transactions {
    return new Transactions(group, {
      endpoint: this.#endpoint,
      sources: this.#checkSources,
      closed: this.#closed.signal,
      checkers: this.#checkers,
      track: (send) => this.#track(send),
    });
  }

  /**
   * Ends tails, consumers and reads, waits for handlers and sends that are under way, and closes the socket. Aborting
   * the signal stops the wait.
   */
  async close(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#closed.abort(new BucketMQError("closed", "the client is closed", { definite: true }));
    let stop = (): void => {};
    const cut = new Promise<void>((resolve) => {
      stop = () => {
        this.#cut.abort(options.signal?.reason);
        resolve();
      };
    });
    if (options.signal?.aborted) stop();
    options.signal?.addEventListener("abort", stop, { once: true });
    const consumers = Promise.allSettled([
      ...[...this.#consumers].map((consumer) => consumer.close()),
      ...[...this.#checkers].map((checker) => checker.stop()),
    ]);
    await Promise.race([consumers, cut]);
    this.#sockets?.close();
    await Promise.allSettled(this.#sends);
    options.signal?.removeEventListener("abort", stop);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #transports(
    names: readonly TransportName[] = ["websocket", "sse", "long-poll"],
  ): Map<TransportName, Transport> {
    const all: Record<TransportName, Transport | undefined> = {
      websocket: this.#sockets?.follow,
      sse: sseTransport(this.#endpoint),
      "long-poll": pollTransport({ ...this.#endpoint, retry: { ...this.#endpoint.retry, attempts: 1 } }),
    };
    const chosen = new Map<TransportName, Transport>();
    for (const name of names) {
      const transport = all[name];
      if (transport) chosen.set(name, transport);
    }
    if (chosen.size === 0) throw invalidArgument("transports: none that can be used here");
    return chosen;
  }

  #track<T>(send: Promise<T>): Promise<T> {
    this.#sends.add(send);
    const forget = (): boolean => this.#sends.delete(send);
    send.then(forget, forget);
    return send;
  }
}

function baseOf(url: string | URL): URL {
  const page = typeof location === "undefined" ? undefined : location.href;
  let base: URL;
  try {
    base = new URL(url, page);
  } catch (cause) {
    throw new BucketMQError("invalid_argument", `url: ${String(url)} is none`, { definite: true, cause });
  }
  if (base.protocol !== "http:" && base.protocol !== "https:") throw invalidArgument("url: http or https");
  base.search = base.hash = "";
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return base;
}

function tokenOf(token: ConnectOptions["token"]): () => Promise<string | undefined> {
  return async () => {
    try {
      return typeof token === "function" ? await token() : token;
    } catch (cause) {
      throw new BucketMQError("token_failed", "the token function failed", { retryable: true, cause });
    }
  };
}
