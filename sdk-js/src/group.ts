import type { components } from "./api.gen.js";
import { type ConsumeOptions, Consumer, type ConsumeSources, type TopicSelection } from "./consumer.js";
import { groupCall } from "./groups.js";
import type { Endpoint } from "./http.js";
import { Message } from "./message.js";
import { randomKey } from "./publish.js";
import { sleep } from "./retry.js";
import { type Handler, type RunOptions, Worker } from "./worker.js";

type Schemas = components["schemas"];

/** What a group needs of its client. */
export interface GroupContext {
  readonly endpoint: Endpoint;
  readonly sources: ConsumeSources;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  /** Aborts when the client no longer waits for what is under way. */
  readonly cut: AbortSignal;
  /** What is to be ended with the client. */
  readonly consumers: Set<Consuming>;
}

/** What consumes, until it is closed. */
export interface Consuming {
  close(): Promise<void>;
}

/** Where a reset leads: an end, a time, an offset of every queue, or so many messages on or back. */
export type ResetTarget =
  | "earliest"
  | "latest"
  | Date
  | { readonly offset: number }
  | { readonly shift: number };

/** How far a group is in one queue. */
export interface GroupOffset {
  readonly topic: string;
  readonly queue: number;
  /** The next offset to consume; null while there is none. */
  readonly offset: number | null;
  readonly version: number;
  readonly stopped: boolean;
  /** Messages that are still to be consumed; null when that is not known. */
  readonly lag: number | null;
  /** How long the next of them has been waiting; null when that is not known. */
  readonly lagMs: number | null;
  /** Who owns the queue; when broadcasting, whose progress this is. */
  readonly clientId: string | undefined;
}

/** A message whose delivery to a group failed. */
export interface FailedMessage {
  readonly state: "waiting" | "due" | "dead";
  /** When it comes again, or became a dead letter. */
  readonly at: Date;
  readonly attempts: number;
  /** What was said when it was given back; otherwise `nacked`, `expired` or `redriven`. */
  readonly reason: string;
  /** As it was where it was sent to. */
  readonly message: Message;
}

/** Which dead letters; all when nothing is given. */
export interface DeadLetterSelection {
  /** The topic they were sent to. */
  readonly topic?: string;
  readonly reason?: string;
  readonly messageId?: string;
  readonly from?: Date;
  readonly to?: Date;
  readonly signal?: AbortSignal;
}

/** What a reset did to one queue. */
export interface OffsetChange {
  readonly topic: string;
  readonly queue: number;
  readonly oldOffset: number | null;
  readonly newOffset: number;
  readonly newVersion: number;
}

/** One consumer group of a server. Making it sends nothing. */
export class Group {
  readonly name: string;
  readonly #context: GroupContext;

  /** @internal */
  constructor(name: string, context: GroupContext) {
    this.name = name;
    this.#context = context;
  }

  /**
   * The messages of one or several topics for this group. Finish each with `ack`; leaving the loop leaves the group.
   *
   * @example
   * for await (const message of mq.group("billing").consume("orders", { tags: "paid" })) {
   *   await charge(message.json());
   *   await message.ack();
   * }
   */
  consume(
    topics: string | TopicSelection | readonly TopicSelection[],
    options: ConsumeOptions = {},
  ): Consumer {
    const { closed, consumers } = this.#context;
    const consumer: Consumer = this.#consume(topics, options, closed, () => consumers.delete(consumer));
    consumers.add(consumer);
    return consumer;
  }

  #consume(
    topics: string | TopicSelection | readonly TopicSelection[],
    options: ConsumeOptions,
    end: AbortSignal,
    ended: () => void,
  ): Consumer {
    const { endpoint, sources, closed } = this.#context;
    if (closed.aborted) throw closed.reason;
    return new Consumer(endpoint, sources, this.name, selectionsOf(topics, options), options, end, ended);
  }

  /**
   * Runs a handler for every message, several at a time: returning finishes a message, throwing gives it back.
   *
   * @example
   * const worker = mq.group("billing").run("orders", (message) => charge(message.json()), { concurrency: 8 });
   * process.once("SIGTERM", () => worker.stop());
   * await worker.done;
   */
  run(
    topics: string | TopicSelection | readonly TopicSelection[],
    handler: Handler,
    options: RunOptions = {},
  ): Worker {
    const { consumers, cut, endpoint } = this.#context;
    const worker = new Worker(
      (own) => this.#consume(topics, own, cut, () => {}), // a client that is closed lets handlers finish
      handler,
      options,
      async (signal) => {
        const group: Schemas["Group"] = await groupCall(endpoint, "GET", `/${this.name}`, {
          safety: "read",
          signal,
        });
        return group.invisible_ms;
      },
    );
    const running = { close: () => worker.stop() };
    consumers.add(running);
    const ended = (): boolean => consumers.delete(running);
    worker.done.then(ended, ended);
    return worker;
  }

  /** How far the group is in every queue. */
  async offsets(
    options: { readonly topic?: string; readonly signal?: AbortSignal } = {},
  ): Promise<GroupOffset[]> {
    const list: Schemas["GroupOffsetList"] = await this.#call("GET", "/offsets", options.signal, undefined, {
      topic: options.topic,
    });
    return list.items.map((o) => ({
      topic: o.topic,
      queue: o.queue,
      offset: o.offset,
      version: o.version,
      stopped: o.stopped,
      lag: o.lag,
      lagMs: o.lag_ms,
      clientId: o.client_id,
    }));
  }

  /** Moves the group's progress in a topic, with members or without; nothing is changed when it is a `dryRun`. */
  async reset(
    topic: string,
    to: ResetTarget,
    options: {
      readonly queues?: readonly number[];
      readonly dryRun?: boolean;
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<OffsetChange[]> {
    const { queues, dryRun } = options;
    const body = {
      topic,
      ...targetOf(to),
      ...(queues ? { queues: [...queues] } : {}),
      ...(dryRun ? { dry_run: true } : {}),
    };
    const result: Schemas["ResetResult"] = await this.#call("POST", "/offsets/reset", options.signal, body);
    return result.items.map((o) => ({
      topic: o.topic,
      queue: o.queue,
      oldOffset: o.old_offset,
      newOffset: o.new_offset,
      newVersion: o.new_version,
    }));
  }

  /** Stops the consumption of a queue, or starts it again. */
  async setStopped(
    topic: string,
    queue: number,
    stopped: boolean,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    await this.#call("PATCH", `/queues/${topic}/${queue}`, options.signal, { stopped });
  }

  /** The messages that the group is to get again: those that wait, or with `due` those whose time has come. */
  retries(
    options: { readonly due?: boolean; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<FailedMessage> {
    return this.#failures("/retries", options.signal, { state: options.due ? "due" : "waiting" });
  }

  /**
   * The messages that the group gave up, oldest first.
   *
   * @example
   * for await (const { message, reason } of mq.group("billing").deadLetters({ topic: "orders" })) {
   *   console.log(message.id, reason, message.text());
   * }
   */
  deadLetters(selection: DeadLetterSelection = {}): AsyncGenerator<FailedMessage> {
    return this.#failures("/dead-letters", selection.signal, selectionOf(selection));
  }

  /** Delivers dead letters to the group once more, `rate` a second; returns how many. */
  async redrive(selection: DeadLetterSelection & { readonly rate?: number } = {}): Promise<number> {
    const { rate } = selection;
    return this.#handle("redrive", selection, rate === undefined ? {} : { rate });
  }

  /** Drops dead letters; returns how many. */
  async purge(selection: DeadLetterSelection = {}): Promise<number> {
    return this.#handle("purge", selection, {});
  }

  async *#failures(
    path: string,
    signal: AbortSignal | undefined,
    query: Readonly<Record<string, string | undefined>>,
  ): AsyncGenerator<FailedMessage> {
    for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
      const page: Schemas["FailedMessageList"] = await this.#call("GET", path, signal, undefined, {
        ...query,
        page_token: token,
      });
      for (const { state, at, attempts, reason, topic, message } of page.items) {
        const known = state as FailedMessage["state"];
        yield { state: known, at: new Date(at), attempts, reason, message: new Message(message, topic) };
      }
      token = page.next_page_token;
    }
  }

  async #handle(
    call: string,
    selection: DeadLetterSelection,
    more: Readonly<Record<string, unknown>>,
  ): Promise<number> {
    let done = 0;
    for (let token: string | undefined, first = true; first || token !== undefined; first = false) {
      const body = {
        ...selectionOf(selection),
        ...more,
        ...(token === undefined ? {} : { page_token: token }),
      };
      const result: Schemas["HandledDeadLetters"] = await this.#call(
        "POST",
        `/dead-letters/${call}`,
        selection.signal,
        body,
      );
      done += result.done;
      token = result.next_page_token;
      if (token !== undefined && typeof more["rate"] === "number") {
        await sleep((result.done * 1000) / more["rate"], selection.signal ?? this.#context.closed); // each call begins to count anew
      }
    }
    return done;
  }

  /** The members of the group, as `listMembers` has them. */
  async members(options: { readonly signal?: AbortSignal } = {}): Promise<Schemas["MemberList"]> {
    return this.#call("GET", "/members", options.signal);
  }

  /** Whose the queues are, as `listAssignments` has it. */
  async assignments(options: { readonly signal?: AbortSignal } = {}): Promise<Schemas["AssignmentList"]> {
    return this.#call("GET", "/assignments", options.signal);
  }

  /** What the group consumes, and its live settings for each topic, as `listSubscriptions` has them. */
  async settings(options: { readonly signal?: AbortSignal } = {}): Promise<Schemas["GroupSubscriptionList"]> {
    return this.#call("GET", "/subscriptions", options.signal);
  }

  /** Changes the group's live settings for a topic; members go by them at once. */
  async setSettings(
    topic: string,
    settings: Schemas["SubscriptionSettings"],
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<Schemas["GroupSubscription"]> {
    return this.#call("PATCH", `/subscriptions/${topic}`, options.signal, settings);
  }

  async #call<T>(
    method: string,
    path: string,
    signal: AbortSignal | undefined,
    body?: unknown,
    query: Readonly<Record<string, string | undefined>> = {},
  ): Promise<T> {
    const { endpoint, closed } = this.#context;
    if (closed.aborted) throw closed.reason;
    return groupCall<T>(endpoint, method, `/${this.name}${path}`, {
      ...(body === undefined ? {} : { body }),
      query,
      headers: method === "POST" ? { "Idempotency-Key": randomKey() } : {},
      safety: method === "GET" ? "read" : method === "POST" ? "keyed" : "change",
      signal: signal ?? closed,
    });
  }
}

function selectionsOf(
  topics: string | TopicSelection | readonly TopicSelection[],
  { tags, sql }: ConsumeOptions,
): readonly TopicSelection[] {
  const all = typeof topics === "string" ? [{ topic: topics }] : "topic" in topics ? [topics] : topics;
  const filter = { ...(tags === undefined ? {} : { tags }), ...(sql === undefined ? {} : { sql }) };
  return all.map((selection) => ({ ...filter, ...selection }));
}

function selectionOf({ topic, reason, messageId, from, to }: DeadLetterSelection): Record<string, string> {
  return {
    ...(topic === undefined ? {} : { topic }),
    ...(reason === undefined ? {} : { reason }),
    ...(messageId === undefined ? {} : { message_id: messageId }),
    ...(from === undefined ? {} : { from: from.toISOString() }),
    ...(to === undefined ? {} : { to: to.toISOString() }),
  };
}

function targetOf(to: ResetTarget): Record<string, unknown> {
  if (typeof to === "string") return { to };
  if (to instanceof Date) return { to: "timestamp", timestamp: to.toISOString() };
  return "offset" in to ? { to: "offset", offset: to.offset } : { to: "shift", shift: to.shift };
}
