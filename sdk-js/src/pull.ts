import type { components } from "./api.gen.js";
import { invalidArgument } from "./errors.js";
import { type Endpoint, request } from "./http.js";
import { Message } from "./message.js";
import { timeOf } from "./publish.js";
import { link } from "./retry.js";

/** Where to begin: the earliest message that is kept, the end, or the first one stored at or after a time. */
export type Start = "earliest" | "latest" | Date;

/** What to read of a queue. */
export interface ReadOptions {
  /** Where to begin; a number is an offset. Default `earliest`. */
  readonly from?: Start | number;
  /** Wait for new messages at the end instead of ending. Default false. */
  readonly follow?: boolean;
  /** Messages of one page, 1 to 1000. Default 100. */
  readonly limit?: number;
  /** Bytes of one page; its first message always comes. Default 1 MiB. */
  readonly maxBytes?: number;
  /** Only messages with one of these tags: `paid || refunded`. Default all. */
  readonly tags?: string;
  /** Only messages that meet this SQL92 condition: `region = 'eu' AND amount > 100`. Not together with `tags`. */
  readonly sql?: string;
  /** Fail unless the topic is in this epoch. Default: the epoch of the first page. */
  readonly epoch?: number;
  /** Stops the read; the iteration throws its reason. */
  readonly signal?: AbortSignal;
}

/** What one request has read. */
export interface Page {
  readonly messages: readonly Message[];
  /** Where the next page begins. */
  readonly nextOffset: number;
  /** The first offset that is kept. */
  readonly minOffset: number;
  /** The offset after the last message of the queue. */
  readonly maxOffset: number;
  readonly epoch: number;
}

/** How long a read is held when it follows. */
export const holdMs = 20_000;

/** One read of a queue, as the wire has it. */
export interface PageCall {
  readonly topic: string;
  readonly queue: number;
  readonly from: Start | number;
  readonly limit?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly tags?: string | undefined;
  readonly sql?: string | undefined;
  readonly epoch?: number | undefined;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** Makes one request for messages. */
export async function readPage(
  endpoint: Endpoint,
  call: PageCall,
): Promise<components["schemas"]["MessagePage"]> {
  const { body } = await request<components["schemas"]["MessagePage"]>(endpoint, {
    method: "GET",
    path: `v1/topics/${call.topic}/queues/${call.queue}/messages`,
    query: {
      ...(typeof call.from === "number" ? { offset: call.from } : startQuery(call.from)),
      limit: call.limit,
      max_bytes: call.maxBytes,
      tags: call.tags,
      sql: call.sql,
      epoch: call.epoch,
      wait_ms: call.waitMs || undefined,
    },
    safety: "read",
    signal: call.signal,
    timeoutMs: endpoint.timeoutMs + call.waitMs,
  });
  return body;
}

/** The query parameters of a start. */
export function startQuery(from: Start): Record<string, string> {
  return from instanceof Date ? { timestamp: timeOf(from, "from") } : { position: from };
}

/** The messages of a queue, in order; `for await` over it, or over its `pages()`. Each may be done once. */
export class Reader implements AsyncIterable<Message> {
  readonly #pages: AsyncGenerator<Page, void, undefined>;

  /** @internal */
  constructor(endpoint: Endpoint, topic: string, queue: number, options: ReadOptions, closed: AbortSignal) {
    if (!Number.isSafeInteger(queue) || queue < 0) throw invalidArgument("queue: a whole number from 0");
    const { from } = options;
    if (typeof from === "number" && (!Number.isSafeInteger(from) || from < 0)) {
      throw invalidArgument("from: a whole number from 0");
    }
    this.#pages = pagesOf(endpoint, topic, queue, options, closed);
  }

  /** The pages, as the requests bring them; none of them is empty. */
  pages(): AsyncGenerator<Page, void, undefined> {
    return this.#pages;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Message, void, undefined> {
    for await (const page of this.#pages) yield* page.messages;
  }
}

async function* pagesOf(
  endpoint: Endpoint,
  topic: string,
  queue: number,
  options: ReadOptions,
  closed: AbortSignal,
): AsyncGenerator<Page, void, undefined> {
  const linked = link(options.signal, closed);
  const { limit, maxBytes, tags, sql } = options;
  let { from = "earliest", epoch } = options;
  try {
    for (;;) {
      const waitMs = options.follow ? holdMs : 0;
      const { signal } = linked;
      const page = await readPage(endpoint, {
        topic,
        queue,
        from,
        limit,
        maxBytes,
        tags,
        sql,
        epoch,
        waitMs,
        signal,
      });
      from = page.next_offset;
      epoch = page.epoch;
      if (page.messages.length > 0) yield pageOf(page, topic);
      if (!options.follow && page.next_offset >= page.max_offset) return;
    }
  } catch (error) {
    if (closed.aborted && !options.signal?.aborted) return; // the client was closed
    throw error;
  } finally {
    linked.release();
  }
}

function pageOf(page: components["schemas"]["MessagePage"], topic: string): Page {
  return {
    messages: page.messages.map((wire) => new Message(wire, topic)),
    nextOffset: page.next_offset,
    minOffset: page.min_offset,
    maxOffset: page.max_offset,
    epoch: page.epoch,
  };
}
