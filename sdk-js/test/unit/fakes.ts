import type { components } from "../../src/api.gen.js";
import type { WebSocketLike } from "../../src/index.js";

export type WireMessage = components["schemas"]["Message"];

/** What the SDK has asked for. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string | undefined;
}

/** A fetch that answers from a list of answers, the last one again and again, and remembers what it was asked. */
export function fakeFetch(
  ...answers: ((seen: Seen, signal: AbortSignal) => Response | Promise<Response>)[]
): {
  readonly fetch: typeof fetch;
  readonly seen: Seen[];
} {
  const seen: Seen[] = [];
  return {
    seen,
    fetch: async (input, init) => {
      const url = new URL(String(input));
      const call: Seen = {
        method: init?.method ?? "GET",
        path: url.pathname,
        query: url.searchParams,
        headers: new Headers(init?.headers),
        body: init?.body === undefined ? undefined : String(init.body),
      };
      seen.push(call);
      const answer = answers[Math.min(seen.length, answers.length) - 1];
      if (!answer) throw new TypeError("fetch failed");
      return answer(call, init?.signal ?? new AbortController().signal);
    },
  };
}

export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

export function problem(
  status: number,
  code: string,
  more: Partial<components["schemas"]["Problem"]> = {},
  headers: Record<string, string> = {},
): Response {
  const definite = status !== 504;
  const retryable = status >= 503;
  const body = {
    type: `urn:bucketmq:error:${code}`,
    title: code,
    status,
    code,
    request_id: "r1",
    retryable,
    definite,
  };
  return json({ ...body, ...more }, status, headers);
}

export function stored(offset: number): unknown {
  return {
    stored: 1,
    failed: 0,
    results: [{ index: 0, status: "stored", message_id: `m${offset}`, queue: 0, offset }],
  };
}

export function message(
  queue: number,
  offset: number,
  body: string | null = `${queue}/${offset}`,
): WireMessage {
  const at = "2026-12-01T08:30:00.000Z";
  return {
    message_id: `m${queue}-${offset}`,
    queue,
    offset,
    body,
    encoding: "text",
    born_at: at,
    stored_at: at,
  };
}

/** Answers a look at the ends of a topic's queues. */
export function ends(...offsets: number[]): Response {
  return json({ epoch: 1, items: offsets.map((offset, queue) => ({ queue, offset })) });
}

/** A WebSocket whose other end is the test. */
export class FakeSocket implements WebSocketLike {
  static all: FakeSocket[] = [];
  /** Called for each new socket. */
  static script: (socket: FakeSocket) => void = () => {};
  protocol = "";
  onopen: ((event: never) => unknown) | null = null;
  onmessage: ((event: never) => unknown) | null = null;
  onerror: ((event: never) => unknown) | null = null;
  onclose: ((event: never) => unknown) | null = null;
  readonly sent: Record<string, unknown>[] = [];
  readonly url: string;
  closed = false;
  /** Called for each operation of the client. */
  onop: (op: Record<string, unknown>) => void = () => {};

  constructor(url: string, protocols: string[]) {
    this.url = url;
    FakeSocket.all.push(this);
    const [protocol = ""] = protocols;
    queueMicrotask(() => {
      this.protocol = protocol;
      FakeSocket.script(this);
    });
  }

  open(): void {
    this.onopen?.({} as never);
  }

  say(op: Record<string, unknown>): void {
    this.onmessage?.({ data: JSON.stringify(op) } as never);
  }

  drop(code: number, reason = ""): void {
    this.onclose?.({ code, reason } as never);
  }

  send(data: string): void {
    const op = JSON.parse(data) as Record<string, unknown>;
    this.sent.push(op);
    queueMicrotask(() => this.onop(op));
  }

  close(): void {
    this.closed = true;
  }

  ops(name: string): Record<string, unknown>[] {
    return this.sent.filter((op) => op["op"] === name);
  }
}

const limits = { frame_bytes: 1 << 23, subscriptions: 100, credit_messages: 10_000, credit_bytes: 1 << 26 };
export const welcome: Record<string, unknown> = {
  op: "welcome",
  session: "s",
  heartbeat_ms: 20_000,
  limits: limits,
};

/** Opens a socket, welcomes the client, and answers `subscribe` with what `start` sends. */
export function serve(socket: FakeSocket, start: (sub: string, op: Record<string, unknown>) => void): void {
  socket.onop = (op) => {
    if (op["op"] === "hello") socket.say(welcome);
    if (op["op"] === "subscribe") start(String(op["sub"]), op);
  };
  socket.open();
}

/** Takes `count` items, then lets go. */
export async function take<T>(source: AsyncIterable<T>, count: number): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) {
    items.push(item);
    if (items.length === count) break;
  }
  return items;
}
