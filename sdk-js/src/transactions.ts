import type { components } from "./api.gen.js";
import { Checker, type CheckHandler, type CheckOptions, type CheckSources } from "./checker.js";
import { invalidArgument } from "./errors.js";
import { type Endpoint, request, type Safety } from "./http.js";
import { messagesOf, type NewMessage, randomKey, type SendOptions } from "./publish.js";
import { topicPath } from "./topics.js";

type Schemas = components["schemas"];

/** `open` is undecided; an `expired` one was decided by nobody, and its messages are kept for three days. */
export type TransactionState = Schemas["TransactionState"];

/** How to begin a transaction. */
export interface BeginOptions extends SendOptions {
  /** Your own name for it, such as an order number: checks tell it, also when the answer to `begin` was lost. */
  readonly reference?: string;
  /** When producers are first asked about it if it is not decided. Default 6 000. */
  readonly checkAfterMs?: number;
}

/** A run of messages of one queue. */
export interface TransactionPlace {
  readonly topic: string;
  readonly queue: number;
  /** Of the first of them. */
  readonly offset: number;
  readonly messages: number;
}

/** A transaction as it was when the server told of it. */
export interface TransactionInfo {
  readonly id: string;
  readonly producerGroup: string;
  readonly state: TransactionState;
  /** Why it is in a state that no producer asked for. */
  readonly reason?: string;
  readonly reference?: string;
  readonly createdAt: Date;
  /** When producers are first asked about it. */
  readonly deadline: Date;
  /** How often they were asked, and how often they are asked at most. */
  readonly checks: number;
  readonly maxChecks: number;
  readonly decidedAt?: Date;
  /** Its messages have offsets and are readable. */
  readonly readable: boolean;
  /** The ids of its messages by topic; none in a list. */
  readonly messageIds: Readonly<Record<string, readonly string[]>>;
  /** Where its messages are, once they are readable. */
  readonly places: readonly TransactionPlace[];
}

/** What a client gives its transactions. @internal */
export interface TransactionContext {
  readonly endpoint: Endpoint;
  readonly sources: CheckSources;
  readonly closed: AbortSignal;
  readonly checkers: Set<Checker>;
  track<T>(send: Promise<T>): Promise<T>;
}

/** A transaction that this program began. */
export class Transaction {
  /** As it was when it began. */
  readonly info: TransactionInfo;
  readonly #all: Transactions;

  /** @internal */
  constructor(info: TransactionInfo, all: Transactions) {
    this.info = info;
    this.#all = all;
  }

  get id(): string {
    return this.info.id;
  }

  /** Makes its messages readable. May be repeated; `transaction_decided` when it was rolled back, or has expired. */
  commit(options: { readonly signal?: AbortSignal } = {}): Promise<TransactionInfo> {
    return this.#all.commit(this.id, options);
  }

  /** Sees to it that nobody ever reads its messages. May be repeated; `transaction_decided` when it was committed. */
  rollback(options: { readonly signal?: AbortSignal } = {}): Promise<TransactionInfo> {
    return this.#all.rollback(this.id, options);
  }
}

/** The transactions of one producer group. */
export class Transactions {
  readonly group: string;
  readonly #context: TransactionContext;

  /** @internal */
  constructor(group: string, context: TransactionContext) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(group)) {
      throw invalidArgument(`producer group ${JSON.stringify(group)}: 1 to 120 of A-Z a-z 0-9 . _ -`);
    }
    this.group = group;
    this.#context = context;
  }

  /**
   * Stores messages by topic that become readable together once they are committed, or never. Topics are of type
   * `transaction` or `mixed`.
   *
   * @example
   * const tx = await mq.transactions("sellers").begin({ orders: [{ body: order }], stock: [{ body: item }] });
   * await (await charge(order) ? tx.commit() : tx.rollback());
   */
  async begin(
    messages: Readonly<Record<string, readonly NewMessage[]>>,
    options: BeginOptions = {},
  ): Promise<Transaction> {
    const { reference, checkAfterMs, idempotencyKey = randomKey(), signal } = options;
    const body = {
      producer_group: this.group,
      topics: Object.entries(messages).map(([topic, list]) => ({
        topic: topicPath(topic),
        messages: messagesOf(list),
      })),
      ...(reference === undefined ? {} : { reference }),
      ...(checkAfterMs === undefined ? {} : { check_after_ms: checkAfterMs }),
    } as Schemas["TransactionRequest"];
    const headers = { "Idempotency-Key": idempotencyKey };
    const begun = this.#call<Schemas["Transaction"]>("POST", "v1/transactions", "keyed", {
      signal,
      body,
      headers,
    });
    return new Transaction(infoOf(await this.#context.track(begun)), this);
  }

  /** One transaction, of any group; `transaction_not_found` when there is none any more. */
  async get(id: string, options: { readonly signal?: AbortSignal } = {}): Promise<TransactionInfo> {
    return infoOf(await this.#call("GET", `v1/transactions/${encodeURIComponent(id)}`, "read", options));
  }

  /** The messages of a transaction that is open or has expired. They have no offsets. */
  async messages(
    id: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Schemas["TransactionMessage"][]> {
    const path = `v1/transactions/${encodeURIComponent(id)}/messages`;
    return (await this.#call<Schemas["TransactionMessageList"]>("GET", path, "read", options)).items;
  }

  /** Commits a transaction, with `force` also one that has expired. */
  async commit(
    id: string,
    options: { readonly force?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<TransactionInfo> {
    const path = `v1/transactions/${encodeURIComponent(id)}/commit${options.force ? "?force=true" : ""}`;
    return infoOf(await this.#context.track(this.#call("POST", path, "keyed", options)));
  }

  /** Rolls a transaction back. */
  async rollback(id: string, options: { readonly signal?: AbortSignal } = {}): Promise<TransactionInfo> {
    const path = `v1/transactions/${encodeURIComponent(id)}/rollback`;
    return infoOf(await this.#context.track(this.#call("POST", path, "keyed", options)));
  }

  /** The group's transactions that are undecided or still remembered, the oldest first. */
  async *list(
    options: { readonly state?: TransactionState; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<TransactionInfo, void, undefined> {
    let token: string | undefined;
    do {
      const page: Schemas["TransactionList"] = await this.#call(
        "GET",
        `v1/producer-groups/${this.group}/transactions`,
        "read",
        { signal: options.signal, query: { state: options.state, page_token: token } },
      );
      for (const item of page.items) yield infoOf(item);
      token = page.next_page_token;
    } while (token !== undefined);
  }

  /**
   * Answers checks for as long as it runs: what the handler returns decides the transaction; `unknown`, or an error,
   * lets it be checked again, by this producer or another.
   *
   * @example
   * const checker = mq.transactions("sellers").check(async (tx) => (await wasPaid(tx.reference) ? "commit" : "rollback"));
   */
  check(handler: CheckHandler, options: CheckOptions = {}): Checker {
    const { endpoint, sources, closed, checkers } = this.#context;
    if (closed.aborted) throw closed.reason;
    const checker: Checker = new Checker(endpoint, sources, this, handler, options, closed, () =>
      checkers.delete(checker),
    );
    checkers.add(checker);
    return checker;
  }

  /** What a handler said of a transaction that was checked. A client that closes lets handlers finish. @internal */
  async settle(id: string, outcome: "commit" | "rollback"): Promise<void> {
    await this.#context.track(
      request(this.#context.endpoint, {
        method: "POST",
        path: `v1/transactions/${encodeURIComponent(id)}/${outcome}`,
        safety: "keyed",
        signal: new AbortController().signal,
      }),
    );
  }

  async #call<T>(
    method: string,
    path: string,
    safety: Safety,
    options: {
      readonly body?: unknown;
      readonly query?: Readonly<Record<string, string | undefined>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<T> {
    const { endpoint, closed } = this.#context;
    if (closed.aborted) throw closed.reason;
    const { body, query, headers = {}, signal } = options;
    const answer = await request<T>(endpoint, {
      method,
      path,
      safety,
      ...(query === undefined ? {} : { query }),
      headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ?? new AbortController().signal,
    });
    return answer.body;
  }
}

/** A transaction as the server tells it. @internal */
export function infoOf(wire: Schemas["Transaction"]): TransactionInfo {
  const { reason, reference, decided_at } = wire;
  return {
    id: wire.transaction_id,
    producerGroup: wire.producer_group,
    state: wire.state,
    ...(reason === undefined ? {} : { reason }),
    ...(reference === undefined ? {} : { reference }),
    createdAt: new Date(wire.created_at),
    deadline: new Date(wire.deadline),
    checks: wire.checks,
    maxChecks: wire.max_checks,
    ...(decided_at === undefined ? {} : { decidedAt: new Date(decided_at) }),
    readable: wire.readable,
    messageIds: Object.fromEntries(wire.topics.map(({ topic, message_ids = [] }) => [topic, message_ids])),
    places: wire.topics.flatMap(({ topic, places }) =>
      places.map(({ queue, offset, messages }) => ({ topic, queue, offset, messages })),
    ),
  };
}
