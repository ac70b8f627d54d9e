import type { components } from "./api.gen.js";
import { BucketMQError, canPass, invalidArgument } from "./errors.js";
import { type Endpoint, request } from "./http.js";
import { link, pauseMs, sleep } from "./retry.js";
import { infoOf, type TransactionInfo, type Transactions } from "./transactions.js";

type Schemas = components["schemas"];

/** What a producer says became of a transaction; `unknown` lets it be checked again. */
export type CheckOutcome = "commit" | "rollback" | "unknown";

/** Decides a transaction that is checked. */
export type CheckHandler = (
  transaction: TransactionInfo,
  context: { readonly signal: AbortSignal },
) => CheckOutcome | Promise<CheckOutcome>;

/** How to answer checks. */
export interface CheckOptions {
  /** Handlers at a time. Default 8. */
  readonly concurrency?: number;
  /** Told why a handler failed, or its answer did not get through. Default: nobody is; the check comes again. */
  readonly onError?: (error: unknown, transaction: TransactionInfo) => void;
  /** Told when checks come, and when they stopped coming. */
  readonly onState?: (state: { readonly state: "open" | "waiting"; readonly error?: BucketMQError }) => void;
  /** Stops the checker; then `done` rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** Checks as they come: `undefined` says that from then on they do. @internal */
export type CheckSource = (
  group: string,
  signal: AbortSignal,
) => AsyncGenerator<Schemas["Transaction"] | undefined, void, undefined>;

/** The ways by which checks can come. @internal */
export interface CheckSources {
  readonly websocket: CheckSource | undefined;
  readonly http: CheckSource | undefined;
}

const refusedForMs = 300_000;
const pollWaitMs = 20_000;

/** Checks by long poll. @internal */
export function pollChecks(endpoint: Endpoint): CheckSource {
  return async function* (group, signal) {
    const patient = { ...endpoint, retry: { ...endpoint.retry, attempts: 1 } };
    const body = (wait: number): string => JSON.stringify({ wait_ms: wait, max_checks: 8 });
    for (let wait = 0; ; wait = pollWaitMs) {
      const { body: page } = await request<Schemas["CheckList"]>(patient, {
        method: "POST",
        path: `v1/producer-groups/${group}/checks`,
        headers: { "Content-Type": "application/json" },
        body: body(wait),
        safety: "change",
        signal,
        timeoutMs: endpoint.timeoutMs + wait,
      });
      if (wait === 0) yield undefined;
      yield* page.transactions;
    }
  };
}

/** Answers checks of a producer group until it is stopped. */
export class Checker implements AsyncDisposable {
  /** Settles when it has ended: by `stop`, or with what no retry heals. */
  readonly done: Promise<void>;
  readonly #endpoint: Endpoint;
  readonly #sources: CheckSources;
  readonly #transactions: Transactions;
  readonly #handler: CheckHandler;
  readonly #options: CheckOptions;
  readonly #stop: AbortController = new AbortController();
  readonly #running: Set<Promise<void>> = new Set();
  readonly #concurrency: number;
  #refusedUntil = 0;
  #failures = 0;

  /** @internal */
  constructor(
    endpoint: Endpoint,
    sources: CheckSources,
    transactions: Transactions,
    handler: CheckHandler,
    options: CheckOptions,
    closed: AbortSignal,
    ended: () => void,
  ) {
    const { concurrency = 8 } = options;
    if (!Number.isInteger(concurrency) || concurrency < 1)
      throw invalidArgument("concurrency: a whole number from 1");
    this.#concurrency = concurrency;
    this.#endpoint = endpoint;
    this.#sources = sources;
    this.#transactions = transactions;
    this.#handler = handler;
    this.#options = options;
    this.done = this.#run(closed).finally(ended);
    this.done.catch(() => {}); // who wants to know looks at it
  }

  /** Takes no more checks and waits for the handlers that run. */
  async stop(): Promise<void> {
    this.#stop.abort(new BucketMQError("closed", "the checker was stopped"));
    await this.done.catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #run(closed: AbortSignal): Promise<void> {
    const linked = link(this.#options.signal, closed, this.#stop.signal);
    const { signal } = linked;
    try {
      for (;;) {
        try {
          signal.throwIfAborted();
          await this.#take(signal);
        } catch (error) {
          await this.#rest(error, signal);
        }
      }
    } catch (error) {
      if (!(error instanceof BucketMQError && error.code === "closed")) throw error;
    } finally {
      linked.release();
      await Promise.all(this.#running);
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    const { websocket, http } = this.#sources;
    let opened = false;
    if (websocket && !(http && Date.now() < this.#refusedUntil)) {
      try {
        await this.#follow(websocket, signal, () => (opened = true));
        return;
      } catch (error) {
        if (opened || !http || !isRefusal(error)) throw error;
        this.#refusedUntil = Date.now() + refusedForMs;
      }
    }
    if (!http) throw invalidArgument("transports: none by which checks can come");
    await this.#follow(http, signal, () => {});
  }

  async #follow(source: CheckSource, signal: AbortSignal, opened: () => void): Promise<void> {
    for await (const check of source(this.#transactions.group, signal)) {
      signal.throwIfAborted();
      if (check === undefined) {
        this.#failures = 0;
        opened();
        this.#options.onState?.({ state: "open" });
        continue;
      }
      const running = this.#answer(infoOf(check), signal);
      this.#running.add(running);
      running.then(() => this.#running.delete(running));
      while (this.#running.size >= this.#concurrency) await Promise.race(this.#running);
    }
    throw new BucketMQError("network", "the connection ended");
  }

  /** Asks the handler and carries out what it says. Over HTTP: so it is repeated like any other request. */
  async #answer(info: TransactionInfo, signal: AbortSignal): Promise<void> {
    try {
      const outcome = await this.#handler(info, { signal });
      if (outcome === "commit" || outcome === "rollback") await this.#transactions.settle(info.id, outcome);
    } catch (error) {
      this.#options.onError?.(error, info);
    }
  }

  /** Waits before the next try, or throws what no retry heals. */
  async #rest(reason: unknown, signal: AbortSignal): Promise<void> {
    if (!(reason instanceof BucketMQError) || signal.aborted) throw reason;
    if (!canPass(reason) && reason.status < 500) throw reason;
    this.#options.onState?.({ state: "waiting", error: reason });
    const { baseMs, tailCapMs } = this.#endpoint.retry;
    await sleep(pauseMs(++this.#failures, baseMs, tailCapMs, reason), signal);
  }
}

/** Whether WebSocket could not be opened for a reason of its own. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof BucketMQError)) return false;
  return error.code === "network" || error.code === "timeout" || error.code === "unsupported_protocol";
}
