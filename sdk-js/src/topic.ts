import type { components } from "./api.gen.js";
import type { SendResult } from "./errors.js";
import { BucketMQError } from "./errors.js";
import { type Endpoint, request } from "./http.js";
import type { Ladder } from "./ladder.js";
import type { Message } from "./message.js";
import { Producer, type ProducerOptions } from "./producer.js";
import {
  encodeMessage,
  encodeMessages,
  type MessageOptions,
  type NewMessage,
  randomKey,
  type SendOptions,
  sentOf,
} from "./publish.js";
import { Reader, type ReadOptions } from "./pull.js";
import { ask, type Reply, type RequestOptions } from "./replies.js";
import { link } from "./retry.js";
import { type SearchOptions, searchMessages } from "./search.js";
import { Tail, type TailOptions } from "./tail.js";

/** What a topic needs of its client. */
export interface TopicContext {
  readonly endpoint: Endpoint;
  readonly ladder: Ladder;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
  /** Aborts when sends must not wait any longer. */
  readonly cut: AbortSignal;
  /** Counts a send in flight. */
  track<T>(send: Promise<T>): Promise<T>;
}

/** One topic of a server. Making it sends nothing. */
export class Topic {
  readonly name: string;
  readonly #context: TopicContext;

  /** @internal */
  constructor(name: string, context: TopicContext) {
    this.name = name;
    this.#context = context;
  }

  /**
   * Sends one message; resolves when it is durable. A string is text, bytes are bytes, null is a tombstone,
   * everything else is sent as JSON.
   *
   * @example
   * const { messageId, queue, offset } = await topic.send({ orderId: 42 }, { key: "42", tag: "paid" });
   */
  async send(value: unknown, options: MessageOptions & SendOptions = {}): Promise<SendResult> {
    const [result] = await this.sendBatch([{ ...options, body: value }], options);
    if (!result) throw new BucketMQError("invalid_answer", "no result");
    return result;
  }

  /**
   * Sends a message and waits for the reply to it. `reply_timeout` says that none came in time; the message is stored.
   *
   * @example
   * const reply = await mq.topic("quotes").request({ item: 42 }, { timeoutMs: 2_000 });
   * console.log(reply.json());
   */
  async request(value: unknown, options: RequestOptions = {}): Promise<Reply> {
    this.#assertOpen();
    const linked = link(options.signal, this.#context.closed); // who closes does not wait for replies
    try {
      return await ask(this.#context.endpoint, this.name, value, options, linked.signal);
    } finally {
      linked.release();
    }
  }

  /** Sends 1 to 1000 messages in one request; resolves when all are durable, with one result per message. */
  async sendBatch(messages: readonly NewMessage[], options: SendOptions = {}): Promise<SendResult[]> {
    this.#assertOpen();
    const body = encodeMessages(messages, options.ifNextOffset);
    return this.#context.track(this.#post(body, messages.length, options));
  }

  /**
   * Sends one message without waiting until it is stored: resolves when the server has taken it, which may still
   * lose it. It is sent again only where it surely was not taken.
   *
   * @example
   * await topic.sendOneWay({ clicked: "buy" });
   */
  async sendOneWay(
    value: unknown,
    options: MessageOptions & { readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    this.#assertOpen();
    const { signal, ...rest } = options;
    const body = `{"ack":"none","messages":[${encodeMessage({ ...rest, body: value })}]}`;
    const linked = link(signal, this.#context.cut);
    try {
      await this.#context.track(
        request(this.#context.endpoint, {
          method: "POST",
          path: `v1/topics/${this.name}/messages`,
          headers: { "Content-Type": "application/json" },
          body,
          safety: "change",
          signal: linked.signal,
        }),
      );
    } finally {
      linked.release();
    }
  }

  /**
   * Takes a delayed message away before it is due: nobody ever reads it. `already_delivered` when it came first,
   * `handle_not_found` when there is no such message. Repeating it gives the same answer.
   *
   * @example
   * const { recallHandle } = await topic.send("remind me", { delayMs: 60_000 });
   * if (recallHandle) await topic.recall(recallHandle);
   */
  async recall(recallHandle: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#assertOpen();
    const linked = link(options.signal, this.#context.cut);
    try {
      await this.#context.track(
        request(this.#context.endpoint, {
          method: "DELETE",
          path: `v1/topics/${this.name}/scheduled/${encodeURIComponent(recallHandle)}`,
          safety: "keyed",
          signal: linked.signal,
        }),
      );
    } finally {
      linked.release();
    }
  }

  /** Makes a producer that gathers messages into batches, for many messages from one place. */
  producer(options: ProducerOptions = {}): Producer {
    this.#assertOpen();
    return new Producer({ ...this.#context, topic: this.name }, options);
  }

  /** Reads one queue in order, from an offset, a time or an end. */
  read(queue: number, options: ReadOptions = {}): Reader {
    this.#assertOpen();
    return new Reader(this.#context.endpoint, this.name, queue, options, this.#context.closed);
  }

  /**
   * Finds messages by key and time, or by id, in the order of storing. It reads only what may hold the key.
   *
   * @example
   * for await (const message of topic.search({ key: "order-42" })) show(message.text());
   */
  search(options: SearchOptions): AsyncGenerator<Message, void, undefined> {
    this.#assertOpen();
    return searchMessages(this.#context.endpoint, this.name, options, this.#context.closed);
  }

  /** Follows the messages of all queues as they arrive. */
  tail(options: TailOptions = {}): Tail {
    this.#assertOpen();
    return new Tail(this.#context.endpoint, this.#context.ladder, this.name, options, this.#context.closed);
  }

  async #post(body: string, count: number, options: SendOptions): Promise<SendResult[]> {
    const linked = link(options.signal, this.#context.cut);
    const idempotencyKey = options.idempotencyKey ?? randomKey();
    try {
      const answer = await request<components["schemas"]["SendResult"]>(this.#context.endpoint, {
        method: "POST",
        path: `v1/topics/${this.name}/messages`,
        headers: { "Content-Type": "application/json", "Idempotency-Key": idempotencyKey },
        body,
        safety: "keyed",
        signal: linked.signal,
      });
      return sentOf(answer.body, count);
    } finally {
      linked.release();
    }
  }

  #assertOpen(): void {
    if (this.#context.closed.aborted) throw this.#context.closed.reason;
  }
}
