import type { components } from "./api.gen.js";
import { type Endpoint, request } from "./http.js";
import { Message } from "./message.js";
import { timeOf } from "./publish.js";
import { link } from "./retry.js";

/** What to look for in a topic: a `messageId` alone, or a `key` or `from` and what bounds it. */
export interface SearchOptions {
  /** The one message with this id. */
  readonly messageId?: string;
  /** Messages that have this key, as one of their keys. */
  readonly key?: string;
  /** Only what was stored at or after this time. Default: everything that is kept. */
  readonly from?: Date | number;
  /** Only what was stored before this time. Default: now. */
  readonly to?: Date | number;
  /** Only messages with this tag. Default: all. */
  readonly tag?: string;
  /** Messages of one request, 1 to 1000. Default 100. */
  readonly limit?: number;
  /** Stops the search; the iteration throws its reason. */
  readonly signal?: AbortSignal;
}

/** The messages that a search finds, in the order of storing, request by request. */
export async function* searchMessages(
  endpoint: Endpoint,
  topic: string,
  options: SearchOptions,
  closed: AbortSignal,
): AsyncGenerator<Message, void, undefined> {
  const { messageId, key, from, to, tag, limit } = options;
  let token: string | undefined;
  do {
    const linked = link(options.signal, closed);
    let page: components["schemas"]["SearchResult"];
    try {
      const answer = await request<components["schemas"]["SearchResult"]>(endpoint, {
        method: "GET",
        path: `v1/topics/${topic}/search`,
        query: {
          message_id: messageId,
          key,
          from: from === undefined ? undefined : timeOf(from, "from"),
          to: to === undefined ? undefined : timeOf(to, "to"),
          tag,
          limit,
          page_token: token,
        },
        safety: "read",
        signal: linked.signal,
      });
      page = answer.body;
    } finally {
      linked.release();
    }
    for (const item of page.items) yield new Message(item, topic);
    token = page.next_page_token;
  } while (token !== undefined);
}
