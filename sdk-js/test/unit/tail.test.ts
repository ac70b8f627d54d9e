import { beforeEach, describe, expect, test, vi } from "vitest";
import { BucketMQError, connect, type Gap, type TailState } from "../../src/index.js";
import { pauseMs } from "../../src/retry.js";
import { ends, FakeSocket, fakeFetch, json, message, problem, serve, take } from "./fakes.js";

const retry = { baseMs: 1, capMs: 1, tailCapMs: 1 };
const WebSocket = FakeSocket;

beforeEach(() => {
  FakeSocket.all = [];
});

/** Plays one script per socket, the last one again and again. */
function sockets(...scripts: ((socket: FakeSocket) => void)[]): void {
  FakeSocket.script = (socket) => scripts[Math.min(FakeSocket.all.length, scripts.length) - 1]?.(socket);
}

const subscribed = (sub: string): Record<string, unknown> => ({
  op: "subscribed",
  sub,
  recovered: true,
  cursor: "c0",
});

function client(...answers: Parameters<typeof fakeFetch>): ReturnType<typeof connect> {
  const { fetch } = fakeFetch(...(answers.length > 0 ? answers : [() => ends(0, 0)]));
  return connect("http://h", { fetch, WebSocket, retry, transports: ["websocket"] });
}

function stream(...parts: string[]): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts) controller.enqueue(encoder.encode(part));
      controller.close();
    },
  });
  return new Response(body, { headers: { "Content-Type": "text/event-stream; charset=utf-8" } });
}

const event = (queue: number, offset: number, cursor: string): string =>
  `id: ${cursor}\nevent: message\ndata: ${JSON.stringify(message(queue, offset))}\n\n`;

describe("Tails", () => {
  test("the cursor covers exactly what was yielded, and a tail from it repeats nothing", async () => {
    const batch = [message(0, 0), message(0, 1), message(1, 0)];
    sockets((socket) =>
      serve(socket, (sub, op) => {
        socket.say(subscribed(sub));
        socket.say({ op: "messages", sub, seq: 1, items: batch, cursor: "c1" });
        if ((op["from"] as { cursor?: string }).cursor) {
          socket.say({ op: "messages", sub, seq: 2, items: [message(1, 1)], cursor: "c2" });
        }
      }),
    );
    const mq = client();
    const first = mq.topic("orders").tail();
    expect(first.cursor).toBeUndefined();
    expect((await take(first, 2)).map((m) => m.text())).toEqual(["0/0", "0/1"]);
    const { cursor } = first;
    if (cursor === undefined) throw new Error("no cursor");
    const rest = await take(mq.topic("orders").tail({ from: { cursor } }), 2);
    expect(rest.map((m) => m.text())).toEqual(["1/0", "1/1"]);
    expect(FakeSocket.all.at(-1)?.ops("subscribe")[0]).toMatchObject({ from: { cursor: "c0" } });
  });

  test("a cursor of another topic, or none, is refused at once", () => {
    const topic = client().topic("orders");
    expect(() => topic.tail({ from: { cursor: "x" } })).toThrow(BucketMQError);
    expect(() => topic.tail({ from: new Date(Number.NaN) })).toThrow(BucketMQError);
  });

  test("loss is told to onGap, in order; without it the iteration throws and the cursor is behind it", async () => {
    sockets((socket) =>
      serve(socket, (sub) => {
        socket.say(subscribed(sub));
        socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0)], cursor: "c1" });
        socket.say({ op: "gap", sub, topic: "orders", queue: 0, from: 1, to: 5, reason: "trimmed" });
        socket.say({ op: "messages", sub, seq: 2, items: [message(0, 5)], cursor: "c2" });
      }),
    );
    const seen: string[] = [];
    const onGap = (gap: Gap): unknown => seen.push(`${gap.from}-${gap.to} ${gap.reason}`);
    for await (const m of client().topic("orders").tail({ onGap })) {
      seen.push(String(m.text()));
      if (m.offset === 5) break;
    }
    expect(seen).toEqual(["0/0", "1-5 trimmed", "0/5"]);

    const strict = client().topic("orders").tail();
    const error = await take(strict, 9).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "gap", gap: { queue: 0, from: 1, to: 5, reason: "trimmed" } });
    const saved = JSON.parse(Buffer.from(strict.cursor ?? "", "base64url").toString());
    expect(saved.n).toEqual([
      [0, 5],
      [1, 0],
    ]);
  });

  test("break and close end quietly, and the last tail closes the socket", async () => {
    sockets((socket) =>
      serve(socket, (sub) => {
        socket.say(subscribed(sub));
        socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0)], cursor: "c1" });
      }),
    );
    const mq = client();
    const states: string[] = [];
    const tail = mq.topic("orders").tail({ onState: (state) => states.push(state.state) });
    const other = mq.topic("other").tail();
    await other[Symbol.asyncIterator]().next();
    const waits = (async () => {
      for await (const _ of tail) setTimeout(() => void tail.close(), 5);
    })();
    await waits;
    expect(states).toEqual(["connecting", "connecting", "open", "closed"]);
    expect(FakeSocket.all).toHaveLength(1);
    expect(FakeSocket.all[0]?.closed).toBe(false);
    await other.close();
    expect(FakeSocket.all[0]?.ops("unsubscribe")).toHaveLength(1);
    expect(FakeSocket.all[0]?.ops("bye")).toHaveLength(1);
    expect(FakeSocket.all[0]?.closed).toBe(true);
  });

  test("the signal throws an AbortError while the tail waits; closing the client ends it quietly", async () => {
    sockets((socket) => serve(socket, (sub) => socket.say(subscribed(sub))));
    const mq = client();
    const stop = new AbortController();
    const waits = take(mq.topic("orders").tail({ signal: stop.signal }), 1);
    setTimeout(() => stop.abort(), 20);
    await expect(waits).rejects.toHaveProperty("name", "AbortError");
    const quiet = take(mq.topic("orders").tail(), 1);
    setTimeout(() => void mq.close(), 20);
    expect(await quiet).toEqual([]);
  });

  test("what no retry heals is thrown", async () => {
    const gone = {
      type: "t",
      title: "none",
      status: 404,
      code: "topic_not_found",
      request_id: "r",
      retryable: false,
      definite: true,
    };
    sockets((socket) => serve(socket, (sub) => socket.say({ op: "error", id: sub, problem: gone })));
    await expect(take(client().topic("orders").tail(), 1)).rejects.toHaveProperty("code", "topic_not_found");
    await expect(
      take(
        client(() => problem(404, "topic_not_found"))
          .topic("orders")
          .tail(),
        1,
      ),
    ).rejects.toHaveProperty("code", "topic_not_found");
  });
});

describe("Reconnect", () => {
  test("a socket that drops is opened again and resumed by cursor; nothing twice", async () => {
    sockets(
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0), message(0, 1)], cursor: "c1" });
          setTimeout(() => socket.drop(1006), 5);
        }),
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "messages", sub, seq: 1, items: [message(0, 1), message(0, 2)], cursor: "c2" });
        }),
    );
    const states: TailState[] = [];
    const tail = client()
      .topic("orders")
      .tail({ onState: (state) => states.push(state) });
    expect((await take(tail, 3)).map((m) => m.offset)).toEqual([0, 1, 2]);
    expect(FakeSocket.all[1]?.ops("subscribe")[0]).toMatchObject({ from: { cursor: "c1" } });
    expect(states.map((state) => state.state)).toEqual([
      "connecting",
      "connecting",
      "open",
      "waiting",
      "connecting",
      "open",
      "closed",
    ]);
  });

  test("a part of a batch that was yielded before the drop is not yielded again", async () => {
    const batch = [message(0, 0), message(0, 1), message(0, 2)];
    const script = (socket: FakeSocket): void =>
      serve(socket, (sub) => {
        socket.say(subscribed(sub));
        socket.say({ op: "messages", sub, seq: 1, items: batch, cursor: "c1" });
      });
    sockets(script);
    const got: number[] = [];
    for await (const m of client().topic("orders").tail()) {
      got.push(m.offset);
      if (m.offset === 0) FakeSocket.all[0]?.drop(4000, "shutdown");
      if (m.offset === 2) break;
    }
    expect(got).toEqual([0, 1, 2]);
  });

  test("goaway is obeyed with its pause", async () => {
    sockets(
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "goaway", reason: "shutdown", grace_ms: 5000, reconnect_after_ms: 300 });
        }),
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0)], cursor: "c1" });
        }),
    );
    const started = performance.now();
    await take(client().topic("orders").tail(), 1);
    expect(performance.now() - started).toBeGreaterThanOrEqual(300);
  });

  test.each([
    [4501, "unauthenticated"],
    [4503, "permission_denied"],
    [4504, "origin_denied"],
    [4999, "closed_4999"],
  ])("close code %i ends the tail with %s", async (code, name) => {
    sockets((socket) => socket.drop(code));
    await expect(take(client().topic("orders").tail(), 1)).rejects.toHaveProperty("code", name);
  });

  test.each([1006, 1001, 4000, 4008, 4401, 4408, 4409, 4429, 4499])(
    "close code %i reconnects",
    async (code) => {
      sockets(
        (socket) => socket.drop(code),
        (socket) =>
          serve(socket, (sub) => {
            socket.say(subscribed(sub));
            socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0)], cursor: "c1" });
          }),
      );
      expect(await take(client().topic("orders").tail(), 1)).toHaveLength(1);
    },
  );

  test("silence for heartbeat_ms + 10 s is death; pings are answered", async () => {
    vi.useFakeTimers();
    try {
      sockets((socket) => serve(socket, (sub) => socket.say(subscribed(sub))));
      const waiting: TailState[] = [];
      const stop = new AbortController();
      const onState = (state: TailState): unknown => state.state === "waiting" && waiting.push(state);
      const ended = take(client().topic("orders").tail({ signal: stop.signal, onState }), 1).catch(() => {});
      await vi.advanceTimersByTimeAsync(29_000);
      FakeSocket.all[0]?.say({ op: "ping", n: 7 });
      expect(FakeSocket.all[0]?.ops("pong")).toEqual([{ op: "pong", n: 7 }]);
      await vi.advanceTimersByTimeAsync(29_000);
      expect(waiting).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(1_100);
      expect(waiting).toMatchObject([{ error: { code: "timeout" } }]);
      stop.abort();
      await ended;
    } finally {
      vi.useRealTimers();
    }
  });

  test("a token that expires: the next socket has a new one", async () => {
    sockets(
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          setTimeout(() => socket.drop(4401, "token_expired"), 5);
        }),
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0)], cursor: "c1" });
        }),
    );
    let n = 0;
    const { fetch } = fakeFetch(() => ends(0));
    const mq = connect("http://h", { fetch, WebSocket, retry, token: () => `t${++n}` });
    await take(mq.topic("orders").tail(), 1);
    expect(FakeSocket.all.map((socket) => socket.ops("hello")[0]?.["token"])).toEqual(["t2", "t3"]);
  });

  test("the pause has full jitter below a growing cap, is never 0, and comes after what the server asks", () => {
    const pauses = Array.from({ length: 2000 }, () => pauseMs(3, 100, 10_000));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(400);
    expect(Math.max(...pauses)).toBeGreaterThan(350);
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(20);
    expect(Math.min(...pauses)).toBeLessThan(60);
    expect(pauseMs(99, 100, 500)).toBeLessThanOrEqual(500);
    expect(pauseMs(1, 1, 1, new BucketMQError("x", "x", { retryAfterMs: 700 }))).toBeGreaterThanOrEqual(700);
  });
});

describe("Fallback", () => {
  test("a socket that cannot be opened: a stream at once, and no socket for the next tail", async () => {
    sockets((socket) => socket.drop(1006));
    const { fetch, seen } = fakeFetch((call) =>
      call.path.endsWith("/stream") ? stream(":\n\n", event(0, 0, "c1")) : ends(0, 0),
    );
    const mq = connect("http://h", {
      fetch,
      WebSocket,
      retry: { ...retry, baseMs: 60_000, tailCapMs: 60_000 },
    });
    expect((await take(mq.topic("orders").tail(), 1))[0]?.text()).toBe("0/0");
    await take(mq.topic("orders").tail(), 1);
    expect(FakeSocket.all).toHaveLength(1);
    expect(seen.filter((call) => call.path.endsWith("/stream"))).toHaveLength(2);
  });

  test("a socket that has worked gets two more tries first", async () => {
    sockets(
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          setTimeout(() => socket.drop(1006), 5);
        }),
      (socket) => socket.drop(1006),
    );
    const { fetch, seen } = fakeFetch((call) =>
      call.path.endsWith("/stream") ? stream(event(0, 0, "c1")) : ends(0, 0),
    );
    const mq = connect("http://h", { fetch, WebSocket, retry });
    await take(mq.topic("orders").tail(), 1);
    expect(FakeSocket.all).toHaveLength(1 + 3);
    // it goes on from the socket's cursor
    expect(seen.find((call) => call.path.endsWith("/stream"))?.headers.get("Last-Event-ID")).toBe("c0");
  });

  test("a stream resumes by Last-Event-ID, also after an event without data", async () => {
    const { fetch, seen } = fakeFetch(
      () => ends(0),
      () => stream(":\nid: c0\n\n", event(0, 0, "c1"), ":\nid: c5\n\n"),
      () => stream(event(0, 0, "c1"), event(0, 9, "c10")),
    );
    const mq = connect("http://h", { fetch, retry, transports: ["sse"] });
    expect(
      (await take(mq.topic("orders").tail({ tags: "a || b", queues: [0] }), 2)).map((m) => m.offset),
    ).toEqual([0, 9]);
    expect(seen[1]?.query.toString()).toBe("tags=a+%7C%7C+b&queues=0&position=latest");
    expect(seen[2]?.headers.get("Last-Event-ID")).toBe("c5");
  });

  test("no stream to be had: long poll, from the offsets that were found first", async () => {
    const reads: string[] = [];
    const { fetch } = fakeFetch((call) => {
      if (call.path.endsWith("/stream"))
        return new Response("{}", { headers: { "Content-Type": "application/json" } });
      if (call.path.endsWith("/offsets")) return ends(reads.length > 0 ? 6 : 5, 3);
      reads.push(`${call.path.split("/")[5]} ${call.query.get("offset")} ${call.query.get("wait_ms")}`);
      const offset = Number(call.query.get("offset"));
      const found = offset === 5 && reads.length > 1;
      const messages = found ? [message(0, 5)] : [];
      return json({
        status: "found",
        messages,
        next_offset: found ? 6 : offset,
        min_offset: 0,
        max_offset: 6,
        epoch: 1,
      });
    });
    const mq = connect("http://h", { fetch, retry });
    const tail = mq.topic("orders").tail();
    expect((await take(tail, 1))[0]?.offset).toBe(5);
    expect(reads).toEqual(["0 5 1000", "0 5 null"]);
    expect(tail.cursor).toBeDefined();
  });

  test("long poll announces what is trimmed, damaged, or of another epoch", async () => {
    let epoch = 1;
    const { fetch } = fakeFetch((call) => {
      if (call.path.endsWith("/offsets"))
        return json({
          epoch,
          items: [{ queue: 0, offset: call.query.get("position") === "latest" ? 10 : 0 }],
        });
      const offset = Number(call.query.get("offset"));
      const page = { status: "found", min_offset: 0, max_offset: 10, epoch };
      if (offset === 0 && epoch === 1)
        return problem(410, "offset_trimmed", {
          retryable: false,
          errors: [{ pointer: "p", code: "c", min_offset: 2, next_offset: 10 }],
        });
      if (offset === 2)
        return problem(410, "data_corrupt", {
          retryable: false,
          errors: [{ pointer: "p", code: "c", first_offset: 3, next_offset: 4 }],
        });
      if (offset === 4 && epoch === 1) {
        epoch = 2;
        return problem(409, "epoch_changed", { retryable: false });
      }
      return json({ ...page, messages: [message(0, 9)], next_offset: 10 });
    });
    const gaps: string[] = [];
    const onGap = (gap: Gap): unknown => gaps.push(`${gap.from}-${gap.to} ${gap.reason}`);
    const mq = connect("http://h", { fetch, retry, transports: ["long-poll"] });
    expect((await take(mq.topic("orders").tail({ from: "earliest", onGap }), 1))[0]?.offset).toBe(9);
    expect(gaps).toEqual(["0-2 trimmed", "2-4 corrupt", "4-4 epoch_changed"]);
  });

  test("a tail that polls goes back to the socket when its five minutes are over, from its offsets", async () => {
    let now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now);
    try {
      const page = { status: "found", min_offset: 0, max_offset: 9, epoch: 1 };
      const { fetch, seen } = fakeFetch((call) => {
        if (call.path.endsWith("/stream")) return new Response("{}");
        if (call.path.endsWith("/offsets")) return ends(7, 3);
        const offset = Number(call.query.get("offset"));
        if (offset !== 5) return json({ ...page, messages: [], next_offset: offset });
        now += 300_001; // the first message comes when the socket may be tried again
        return json({ ...page, messages: [message(0, 5)], next_offset: 6 });
      });
      sockets(
        (socket) => socket.drop(1006),
        (socket) => {
          serve(socket, (sub) => socket.say(subscribed(sub)));
          const answer = socket.onop;
          socket.onop = (op) => {
            answer(op);
            if (op["op"] !== "credit") return;
            const items = [message(0, 5), message(0, 6), message(1, 3)]; // the first one was read already
            socket.say({ op: "messages", sub: op["sub"], seq: 1, items, cursor: "c1" });
          };
        },
      );
      const states: TailState[] = [];
      const onState = (state: TailState): unknown => states.push(state);
      const cursor = btoa(JSON.stringify({ v: 1, t: "orders", e: 1, n: [[0, 5]], c: null }));
      const mq = connect("http://h", { fetch, WebSocket, retry });
      const tail = mq.topic("orders").tail({ from: { cursor }, onState });
      const got = await take(tail, 3);
      expect(got.map((m) => m.text())).toEqual(["0/5", "0/6", "1/3"]);
      expect(FakeSocket.all).toHaveLength(2);
      const [subscribe] = FakeSocket.all[1]?.ops("subscribe") ?? [];
      expect(subscribe).toMatchObject({ from: { position: "earliest" }, credit: { messages: 0, bytes: 0 } });
      const seeks = FakeSocket.all[1]?.ops("seek").map((op) => [op["queue"], op["to"]]);
      expect(seeks).toEqual([
        [0, { offset: 6 }],
        [1, { offset: 3 }],
      ]);
      expect(seen.some((call) => call.path.endsWith("/stream"))).toBe(false);
      const opened = states.flatMap((state) => (state.state === "open" ? [state.transport] : []));
      expect(opened).toEqual(["long-poll", "websocket"]);
      expect(states.some((state) => state.state === "waiting")).toBe(false);
    } finally {
      clock.mockRestore();
    }
  });

  test("a socket that is refused again costs a polling tail nothing", async () => {
    let now = Date.now();
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now);
    try {
      sockets((socket) => socket.drop(1006));
      let reads = 0;
      const { fetch } = fakeFetch((call) => {
        if (call.path.endsWith("/offsets")) return ends(0);
        now += 100_000;
        const offset = reads++;
        return json({
          status: "found",
          messages: [message(0, offset)],
          next_offset: offset + 1,
          min_offset: 0,
          max_offset: 99,
          epoch: 1,
        });
      });
      const mq = connect("http://h", { fetch, WebSocket, retry, transports: ["websocket", "long-poll"] });
      const waits: TailState[] = [];
      const onState = (state: TailState): unknown => state.state === "waiting" && waits.push(state);
      const got = await take(mq.topic("orders").tail({ from: "earliest", onState }), 10);
      expect(got.map((m) => m.offset)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(FakeSocket.all).toHaveLength(1 + 3);
      expect(waits).toEqual([]);
    } finally {
      clock.mockRestore();
    }
  });

  test("a new epoch that came while the tail polled is announced before the socket goes on", async () => {
    sockets((socket) => {
      serve(socket, (sub) => socket.say(subscribed(sub)));
      const answer = socket.onop;
      socket.onop = (op) => {
        answer(op);
        if (op["op"] !== "credit") return;
        socket.say({ op: "messages", sub: op["sub"], seq: 1, items: [message(0, 2)], cursor: "c1" });
      };
    });
    const { fetch } = fakeFetch(() => json({ epoch: 2, items: [{ queue: 0, offset: 2 }] }));
    const mq = connect("http://h", { fetch, WebSocket, retry, transports: ["websocket"] });
    const cursor = btoa(JSON.stringify({ v: 1, t: "orders", e: 1, n: [[0, 5]], c: null }));
    const gaps: Gap[] = [];
    const onGap = (gap: Gap): unknown => gaps.push(gap);
    const [first] = await take(mq.topic("orders").tail({ from: { cursor }, onGap }), 1);
    expect(first?.offset).toBe(2);
    expect(gaps).toEqual([{ queue: 0, from: 5, to: 2, reason: "epoch_changed" }]);
    expect(FakeSocket.all[0]?.ops("seek")[0]).toMatchObject({ queue: 0, to: { offset: 2 } });
  });

  test("a cursor of a tail that polled cannot go on over a stream alone", async () => {
    const { fetch } = fakeFetch(() => ends(0));
    const mq = connect("http://h", { fetch, retry, transports: ["sse"] });
    const cursor = btoa(JSON.stringify({ v: 1, t: "orders", e: 1, n: [[0, 5]], c: null }));
    const tail = take(mq.topic("orders").tail({ from: { cursor } }), 1);
    await expect(tail).rejects.toHaveProperty("code", "invalid_argument");
  });
});

describe("Flow control", () => {
  test("credit comes back when the consumer has taken a quarter, and only then", async () => {
    const items = Array.from({ length: 100 }, (_, offset) => message(0, offset));
    sockets((socket) =>
      serve(socket, (sub) => {
        socket.say(subscribed(sub));
        socket.say({ op: "messages", sub, seq: 1, items, cursor: "c1" });
        const more = Array.from({ length: 100 }, (_, i) => message(0, 100 + i, "é"));
        socket.say({ op: "messages", sub, seq: 2, items: more, cursor: "c2" });
        socket.say({ op: "messages", sub, seq: 3, items: [message(0, 200)], cursor: "c3" });
      }),
    );
    let at100: unknown;
    for await (const m of client().topic("orders").tail()) {
      if (m.offset === 150) at100 = FakeSocket.all[0]?.ops("credit").length;
      if (m.offset === 200) break;
    }
    expect(FakeSocket.all[0]?.ops("subscribe")[0]).toMatchObject({
      credit: { messages: 512, bytes: 4 << 20 },
    });
    expect(at100).toBe(0);
    const bytes = items.reduce((sum, item) => sum + (item.body ?? "").length, 0) + 200;
    expect(FakeSocket.all[0]?.ops("credit")).toEqual([{ op: "credit", sub: "s1", messages: 200, bytes }]);
  });

  test("a hole in a subscription's batches is an error, and the tail starts again from its cursor", async () => {
    sockets(
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "messages", sub, seq: 2, items: [message(0, 7)], cursor: "c7" });
        }),
      (socket) =>
        serve(socket, (sub) => {
          socket.say(subscribed(sub));
          socket.say({ op: "messages", sub, seq: 1, items: [message(0, 0)], cursor: "c1" });
        }),
    );
    const [first] = await take(client().topic("orders").tail(), 1);
    expect(first?.offset).toBe(0);
    expect(FakeSocket.all[1]?.ops("subscribe")[0]).toMatchObject({ from: { cursor: "c0" } });
  });
});
