import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { Batch, progressOf } from "../../src/batch.js";
import { type Client, type ConsumerEvent, connect, type Delivery } from "../../src/index.js";
import { FakeSocket, fakeFetch, json, message, problem, serve, take, type WireMessage } from "./fakes.js";

const retry = { attempts: 1, baseMs: 1, capMs: 1, tailCapMs: 1 };

beforeEach(() => {
  FakeSocket.all = [];
});

/** Plays one script per socket, the last one again and again. */
function sockets(...scripts: ((socket: FakeSocket) => void)[]): void {
  FakeSocket.script = (socket) => scripts[Math.min(FakeSocket.all.length, scripts.length) - 1]?.(socket);
}

function delivered(offset: number, more: Partial<WireMessage> = {}): WireMessage {
  return { ...message(0, offset), topic: "orders", receipt: `r${offset}`, attempt: 1, ...more };
}

const owned = { topic: "orders", queue: 0, offset: 0, version: 1, assignment_epoch: 1, stopped: false };

/** Subscribes a socket, says `ops`, and answers what it is asked. */
function member(...ops: Record<string, unknown>[]): (socket: FakeSocket) => void {
  return (socket) => {
    serve(socket, (sub) => {
      socket.say({ op: "subscribed", sub, recovered: false, ordered: false, assignments: [], settings: [] });
      for (const op of ops) socket.say({ sub, ...op });
    });
    const before = socket.onop;
    socket.onop = (op) => {
      before(op);
      if (["ack", "nack", "extend"].includes(String(op["op"])) && op["id"])
        socket.say({ op: "ok", id: op["id"] });
    };
  };
}

function client(...answers: Parameters<typeof fakeFetch>): Client {
  const { fetch } = fakeFetch(...answers);
  return connect("http://h", { fetch, WebSocket: FakeSocket, retry, transports: ["websocket"] });
}

async function next(messages: AsyncIterator<Delivery, void>): Promise<Delivery> {
  const { value } = await messages.next();
  if (!value) throw new Error("the consumer has ended");
  return value;
}

const items = [delivered(0), delivered(1), delivered(2, { queue: 1 })];

describe("Groups over a socket", () => {
  test("a queue that is reset or lost: what waits of it is dropped, and its credit comes back", async () => {
    sockets(member({ op: "messages", seq: 1, items }));
    const events: ConsumerEvent["kind"][] = [];
    const consumer = client()
      .group("g")
      .consume("orders", { onEvent: ({ kind }) => void events.push(kind) });
    const messages = consumer[Symbol.asyncIterator]();
    expect((await next(messages)).offset).toBe(0);
    const [socket] = FakeSocket.all;
    events.length = 0;
    socket?.say({ op: "assigned", sub: "g1", generation: 1, queues: [{ ...owned, version: 2 }] });
    expect(events).toEqual(["assigned"]); // told while the program is busy
    expect(socket?.ops("credit")).toMatchObject([{ messages: 1 }]);
    socket?.say({ op: "messages", sub: "g1", seq: 2, items: [delivered(0, { receipt: "again" })] });
    expect((await next(messages)).queue).toBe(1);
    expect((await next(messages)).offset).toBe(0);
    await consumer.close();
  });

  test("a queue that goes elsewhere: what waits of it is given back at once", async () => {
    sockets(member({ op: "messages", seq: 1, items }));
    const consumer = client().group("g").consume("orders");
    const messages = consumer[Symbol.asyncIterator]();
    await next(messages);
    FakeSocket.all[0]?.say({ op: "revoking", sub: "g1", generation: 2, queues: [owned] });
    expect(FakeSocket.all[0]?.ops("nack")).toMatchObject([{ items: [{ receipt: "r1", unhandled: true }] }]);
    expect((await next(messages)).queue).toBe(1);
    await consumer.close();
  });

  test("in order: what is behind a message that is given back is not delivered before it", async () => {
    sockets((socket) => {
      member({ op: "messages", seq: 1, items })(socket);
      const before = socket.onop;
      socket.onop = (op) => {
        before(op);
        if (op["op"] === "nack")
          socket.say({ op: "messages", sub: "g1", seq: 2, items: [delivered(0), delivered(1)] });
      };
    });
    const seen: string[] = [];
    for await (const m of client().group("g").consume("orders", { ordered: true })) {
      seen.push(`${m.queue}/${m.offset}`);
      if (seen.length === 1) await m.nack();
      if (seen.length === 4) break;
    }
    expect(seen).toEqual(["0/0", "1/2", "0/0", "0/1"]);
  });

  test("the client's close gives back what nobody took in mode shared, before it says goodbye", async () => {
    sockets(member({ op: "messages", seq: 1, items }));
    const mq = client(() => json({ ordered: false }));
    const messages = mq.group("g").consume("orders", { mode: "shared", prefetch: 3 })[Symbol.asyncIterator]();
    await next(messages);
    await mq.close();
    const ops = FakeSocket.all[0]?.sent.map(({ op }) => op) ?? [];
    expect(FakeSocket.all[0]?.ops("nack")).toMatchObject([{ items: [{ receipt: "r1" }, { receipt: "r2" }] }]);
    expect(ops.indexOf("nack")).toBeLessThan(ops.indexOf("bye"));
  });

  test("mode shared: what comes while the subscription ends goes back, too", async () => {
    sockets(member({ op: "messages", seq: 1, items: items.slice(0, 1) }));
    const given: string[] = [];
    const mq = client(({ path, body }) => {
      if (path.endsWith("/nack")) given.push(body ?? "");
      return json({ ordered: false });
    });
    const messages = mq.group("g").consume("orders", { mode: "shared", prefetch: 3 })[Symbol.asyncIterator]();
    await next(messages);
    const ending = mq.close();
    const [socket] = FakeSocket.all;
    await expect.poll(() => socket?.ops("unsubscribe").length).toBe(1);
    socket?.say({ op: "messages", sub: "g1", seq: 2, items: items.slice(1, 2) }); // it was under way
    socket?.say({ op: "ok", id: socket.ops("unsubscribe")[0]?.["id"] });
    await ending;
    expect(given.map((body) => JSON.parse(body).items)).toEqual([[{ receipt: "r1", unhandled: true }]]);
  });

  test("credit comes back as the program takes, and a broken socket is followed by the same member", async () => {
    sockets(
      (socket) => {
        member({ op: "messages", seq: 1, items: [delivered(0)] })(socket);
      },
      member({ op: "messages", seq: 1, items: [delivered(0)] }),
    );
    const events: ConsumerEvent["kind"][] = [];
    const consumer = client()
      .group("g")
      .consume("orders", { prefetch: 1, onEvent: ({ kind }) => void events.push(kind) });
    const messages = consumer[Symbol.asyncIterator]();
    const first = await next(messages);
    expect(FakeSocket.all[0]?.ops("credit")).toEqual([]);
    const ack = first.ack();
    FakeSocket.all[0]?.drop(1006);
    await expect(ack).rejects.toHaveProperty("code", "network");
    await next(messages);
    const [one, two] = FakeSocket.all.map((socket) => socket.ops("subscribe")[0]);
    expect(two).toMatchObject({ client_id: one?.["client_id"], session_key: one?.["session_key"] });
    expect(events).toEqual(["open", "settings", "waiting", "open", "settings"]);
    await consumer.close();
  });

  test("a receipt of mode shared is said over HTTP when the socket is gone", async () => {
    sockets(member({ op: "messages", seq: 1, items: [delivered(0)] }));
    const { fetch, seen } = fakeFetch(() => json({ ordered: false, results: [] }));
    const mq = connect("http://h", { fetch, WebSocket: FakeSocket, retry, transports: ["websocket"] });
    const [first] = await take(mq.group("g").consume("orders", { mode: "shared" }), 1);
    await first?.ack();
    expect(seen.at(-1)).toMatchObject({ path: "/v1/groups/g/ack", body: '{"receipts":["r0"]}' });
  });

  test("what no retry heals ends the iteration", async () => {
    sockets((socket) => serve(socket, (sub) => socket.say({ op: "unsubscribed", sub, problem: taken })));
    const taken = { code: "session_taken", status: 409, title: "", retryable: false, definite: true };
    await expect(take(client().group("g").consume("orders"), 1)).rejects.toHaveProperty(
      "code",
      "session_taken",
    );
  });
});

describe("Groups over long poll", () => {
  const membership = {
    member_id: "m",
    client_id: "c",
    kind: "queue",
    generation: 1,
    reattached: false,
    ordered: false,
    heartbeat_ms: 1000,
    assignments: [owned],
    revoking: [],
    settings: [],
  };
  const answer = (cursor: string, messages: WireMessage[]): Response =>
    json({
      messages,
      cursor,
      generation: 1,
      rebalancing: false,
      gaps: [],
      queues: [{ ...owned, offset: 2 }],
    });

  test("a failure in the midst of a batch: nothing is committed that was not finished, and nobody leaves", async () => {
    let polls = 0;
    const { fetch, seen } = fakeFetch((call, signal) => {
      if (call.path.endsWith("/members")) return json(membership, 201);
      if (call.path.endsWith("/heartbeat"))
        return polls < 3
          ? json({ generation: 1, assignments: [owned], revoking: [], settings: [] })
          : problem(404, "member_unknown");
      if (!call.path.endsWith("/poll")) return json({ retry: { delays_ms: [1] } });
      if (++polls > 3) {
        return new Promise<Response>((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      }
      return answer(`c${polls}`, polls === 2 || polls === 3 ? [delivered(0), delivered(1)] : []);
    });
    const mq = connect("http://h", { fetch, retry, transports: ["long-poll"] });
    const consumer = mq.group("g").consume("orders");
    const messages = consumer[Symbol.asyncIterator]();
    for (let i = 0; i < 2; i++) await (await next(messages)).ack(); // the second poll's
    const third = await next(messages);
    await third.ack();
    const rest = await next(messages);
    const joins = (): number => seen.filter(({ path }) => path.endsWith("/members")).length;
    const going = messages.next();
    going.catch(() => {});
    await expect.poll(joins, { timeout: 5_000 }).toBeGreaterThan(1);
    await expect(rest.ack()).rejects.toHaveProperty("code", "member_unknown");
    const cursors = seen.flatMap(({ path, body }) =>
      path.endsWith("/poll") ? [JSON.parse(body ?? "").cursor] : [],
    );
    expect(cursors.slice(0, 4)).toEqual([undefined, "c1", "c2", "c2"]); // never c3: its batch was not finished
    expect(seen.some(({ method }) => method === "DELETE")).toBe(false);
    await consumer.close();
    await going;
    expect(seen.at(-1)?.method).toBe("DELETE");
  });

  test("a batch in order: what was given back comes first, with what is behind it", async () => {
    vi.useFakeTimers(); // nothing is due before the test says so
    onTestFinished(() => void vi.useRealTimers());
    const batch = new Batch(items, { delays: [1], ordered: true });
    const first = batch.take();
    if (!first) throw new Error("nothing came");
    await batch.nack(first, {});
    expect(batch.take()?.queue).toBe(1);
    expect(batch.take()).toBeUndefined();
    const changed = batch.changed(new AbortController().signal);
    await vi.advanceTimersByTimeAsync(1);
    await changed;
    const again = batch.take();
    expect(again).toMatchObject({ offset: 0, attempt: 2 });
    expect(batch.take()).toMatchObject({ offset: 1, attempt: 1 });
    await expect(batch.ack(first)).rejects.toHaveProperty("code", "receipt_superseded");
    if (again) await batch.ack(again);
    if (again) await batch.ack(again); // repeating it is fine
    expect(progressOf([{ ...owned, offset: 9 }], batch)).toMatchObject([{ offset: 1, version: 1 }]);
    batch.keep((_, queue) => queue === 1);
    expect(batch.finished).toBe(false);
    expect(batch.unfinished("orders", 0)).toBeUndefined();
  });
});
