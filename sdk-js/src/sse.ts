import type { components } from "./api.gen.js";
import { BucketMQError, problemError } from "./errors.js";
import { type Endpoint, failureOf, headersOf, urlOf } from "./http.js";
import type { WireMessage } from "./message.js";
import { startQuery } from "./pull.js";
import { link } from "./retry.js";
import type { Arrival, Transport, Wanted } from "./transport.js";

const openWithinMs = 10_000;
const silenceMs = 40_000;

/** Follows a topic by server-sent events, read by fetch so that a token can be sent. */
export function sseTransport(endpoint: Endpoint): Transport {
  return async function* (wanted) {
    const limit = link(wanted.signal);
    const late = (ms: number): ReturnType<typeof setTimeout> =>
      setTimeout(() => limit.abort(new BucketMQError("timeout", `no bytes within ${ms} ms`)), ms);
    let timer = late(openWithinMs);
    try {
      const body = await openStream(endpoint, wanted, limit.signal);
      const reader = body.getReader();
      const parser = new EventParser();
      const decoder = new TextDecoder();
      let opened = false;
      for (;;) {
        const chunk = await reader.read();
        clearTimeout(timer);
        if (chunk.done) throw ended(parser);
        if (!opened) {
          opened = true;
          yield { kind: "open" };
        }
        for (const event of parser.push(decoder.decode(chunk.value, { stream: true })))
          yield* arrivals(event, parser);
        yield { kind: "alive" };
        timer = late(silenceMs);
      }
    } catch (error) {
      throw explain(error, limit.signal);
    } finally {
      clearTimeout(timer);
      limit.abort(undefined); // lets go of the connection
      limit.release();
    }
  };
}

async function openStream(
  endpoint: Endpoint,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const { topic, queues, tags, sql, from, position } = wanted;
  const query = {
    tags,
    sql,
    queues: queues?.join(","),
    ...(position.cursor === undefined ? startQuery(from) : {}),
  };
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (position.cursor !== undefined) headers["Last-Event-ID"] = position.cursor;
  const response = await endpoint.fetch(urlOf(endpoint.base, { path: `v1/topics/${topic}/stream`, query }), {
    headers: await headersOf(endpoint, headers),
    signal,
    credentials: "omit",
    cache: "no-store",
  });
  if (!response.ok) throw failureOf(response, await response.text());
  if (!response.body || !response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    throw new BucketMQError("network", "the answer is not a stream");
  }
  return response.body;
}

function ended(parser: EventParser): BucketMQError {
  return new BucketMQError("network", "the stream ended", { retryAfterMs: parser.retryMs });
}

function explain(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  return error instanceof BucketMQError
    ? error
    : new BucketMQError("network", "the stream broke", { cause: error });
}

function* arrivals(event: ServerEvent, parser: EventParser): Generator<Arrival, void, undefined> {
  const cursor = event.id;
  if (event.data === undefined) {
    if (cursor !== undefined) yield { kind: "cursor", cursor };
  } else if (event.type === "message") {
    yield { kind: "messages", items: [json<WireMessage>(event.data)], cursor };
  } else if (event.type === "gap") {
    yield { kind: "gap", gap: json<components["schemas"]["Gap"]>(event.data), cursor };
  } else if (event.type === "error") {
    const problem = problemError(json<unknown>(event.data), parser.retryMs);
    throw problem ?? new BucketMQError("invalid_answer", "a problem without a code");
  }
}

function json<T>(data: string): T {
  try {
    return JSON.parse(data) as T;
  } catch (cause) {
    throw new BucketMQError("invalid_answer", "an event is not JSON", { cause });
  }
}

/** One event of a stream; without data it only moves the cursor. */
export interface ServerEvent {
  readonly type: string;
  readonly id: string | undefined;
  readonly data: string | undefined;
}

/** Takes a stream of server-sent events apart. */
export class EventParser {
  /** What the server asked to wait before connecting again. */
  retryMs: number | undefined;
  #rest = "";
  #type = "message";
  #id: string | undefined;
  #data: string | undefined;

  /** The events that are complete with this text. */
  *push(text: string): Generator<ServerEvent, void, undefined> {
    this.#rest += text;
    let from = 0;
    const ends = /\r\n|\n|\r/g;
    for (let end = ends.exec(this.#rest); end; end = ends.exec(this.#rest)) {
      if (end[0] === "\r" && ends.lastIndex === this.#rest.length) break; // a \n may follow
      const line = this.#rest.slice(from, end.index);
      from = ends.lastIndex;
      if (line !== "") this.#field(line);
      else if (this.#data !== undefined || this.#id !== undefined) yield this.#event();
    }
    this.#rest = this.#rest.slice(from);
  }

  #event(): ServerEvent {
    const event = { type: this.#type, id: this.#id, data: this.#data };
    this.#type = "message";
    this.#id = this.#data = undefined;
    return event;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "data") this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    else if (name === "id") this.#id = value;
    else if (name === "event") this.#type = value;
    else if (name === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }
}
