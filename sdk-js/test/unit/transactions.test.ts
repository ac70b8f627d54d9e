import { beforeEach, describe, expect, test, vi } from "vitest";
import type { components } from "../../src/api.gen.js";
import { type CheckOutcome, connect, type TransactionInfo } from "../../src/index.js";
import { FakeSocket, fakeFetch, json, problem, serve } from "./fakes.js";

const retry = { attempts: 3, baseMs: 1, capMs: 1, tailCapMs: 1 };

beforeEach(() => {
  FakeSocket.all = [];
});

function wire(id: string, more: Partial<components["schemas"]["Transaction"]> = {}): unknown {
  return {
    transaction_id: id,
    producer_group: "sellers",
    state: "open",
    reference: `ref ${id}`,
    created_at: "2026-12-01T08:30:00.000Z",
    deadline: "2026-12-01T08:30:06.000Z",
    check_after_ms: 6000,
    checks: 1,
    max_checks: 15,
    readable: false,
    topics: [{ topic: "orders", messages: 1, message_ids: ["m1"], places: [] }],
    ...more,
  };
}

describe("Transactions", () => {
  test("begin sends the messages by topic with a key that a retry keeps; commit is repeated when unsure", async () => {
    const places = [{ queue: 3, offset: 42, messages: 1, epoch: 1, first_message_id: "m1" }];
    const topics = [{ topic: "orders", messages: 1, message_ids: ["m1"], places }];
    const { fetch, seen } = fakeFetch(
      () => problem(503, "unavailable"),
      () => json(wire("t1"), 201),
      () => problem(504, "outcome_unknown"),
      () => json(wire("t1", { state: "committed", readable: true, topics })),
    );
    const deals = connect("http://h", { fetch, retry }).transactions("sellers");
    const tx = await deals.begin(
      { orders: [{ body: { n: 1 }, tag: "paid" }], stock: [{ body: "s" }] },
      { reference: "r", checkAfterMs: 500 },
    );
    expect(tx.id).toBe("t1");
    expect(tx.info).toMatchObject({ state: "open", reference: "ref t1", messageIds: { orders: ["m1"] } });
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual({
      producer_group: "sellers",
      reference: "r",
      check_after_ms: 500,
      topics: [
        { topic: "orders", messages: [{ body: '{"n":1}', content_type: "application/json", tag: "paid" }] },
        { topic: "stock", messages: [{ body: "s" }] },
      ],
    });
    const keys = seen.slice(0, 2).map(({ headers }) => headers.get("Idempotency-Key"));
    expect(keys[0]).toBeTruthy();
    expect(keys[1]).toBe(keys[0]);
    const done = await tx.commit();
    expect(done.places).toEqual([{ topic: "orders", queue: 3, offset: 42, messages: 1 }]);
    expect(seen.slice(2).map(({ path }) => path)).toEqual([
      "/v1/transactions/t1/commit",
      "/v1/transactions/t1/commit",
    ]);
  });

  test("the opposite decision is transaction_decided; a wrong group or topic is refused here", async () => {
    const { fetch } = fakeFetch(() => problem(409, "transaction_decided"));
    const mq = connect("http://h", { fetch, retry });
    await expect(mq.transactions("sellers").rollback("t1")).rejects.toMatchObject({
      code: "transaction_decided",
    });
    expect(() => mq.transactions("a b")).toThrow("producer group");
    await expect(mq.transactions("a").begin({ "a b": [{ body: "x" }] })).rejects.toMatchObject({
      code: "invalid_argument",
    });
  });

  test("list goes from page to page", async () => {
    const { fetch, seen } = fakeFetch(
      () => json({ items: [wire("t1")], next_page_token: "n" }),
      () => json({ items: [wire("t2")] }),
    );
    const ids: string[] = [];
    for await (const { id } of connect("http://h", { fetch }).transactions("sellers").list({ state: "open" }))
      ids.push(id);
    expect(ids).toEqual(["t1", "t2"]);
    expect(String(seen[1]?.query)).toContain("state=open&page_token=n");
  });
});

/** Answers `producer`, and then sends checks. */
function asks(...ids: string[]): (socket: FakeSocket) => void {
  return (socket) => {
    serve(socket, () => {});
    const before = socket.onop;
    socket.onop = (op) => {
      before(op);
      if (op["op"] !== "producer" || op["stop"]) return;
      socket.say({ op: "ok", id: op["id"] });
      for (const id of ids) socket.say({ op: "tx_check", transaction: wire(id) });
    };
  };
}

describe("Checks", () => {
  test("come over the socket, are answered, and an error of the handler is told", async () => {
    FakeSocket.script = asks("t1", "t2", "t3", "t4");
    const { fetch, seen } = fakeFetch(() => json(wire("t", { state: "committed" })));
    const mq = connect("http://h", { fetch, WebSocket: FakeSocket, retry });
    const asked: string[] = [];
    const failed: string[] = [];
    const checker = mq.transactions("sellers").check(
      ({ id, reference }: TransactionInfo) => {
        asked.push(`${id} ${reference}`);
        if (id === "t3") throw new Error("no idea");
        return id === "t1" ? "commit" : id === "t2" ? "rollback" : "unknown";
      },
      { onError: (_error, { id }) => void failed.push(id) },
    );
    await vi.waitFor(() => expect(asked).toHaveLength(4));
    await checker.stop();
    expect(asked[0]).toBe("t1 ref t1");
    expect(seen.map(({ path }) => path).sort()).toEqual([
      "/v1/transactions/t1/commit",
      "/v1/transactions/t2/rollback",
    ]);
    expect(failed).toEqual(["t3"]);
    await expect(checker.done).resolves.toBeUndefined();
    await mq.close();
  });

  test("a handler that runs when the client closes is waited for, and its answer is sent", async () => {
    FakeSocket.script = asks("t1");
    const { fetch, seen } = fakeFetch(() => json(wire("t1", { state: "committed" })));
    const mq = connect("http://h", { fetch, WebSocket: FakeSocket, retry });
    let decide: () => void = () => {};
    let running = false;
    mq.transactions("sellers").check(async (): Promise<CheckOutcome> => {
      running = true;
      await new Promise<void>((resolve) => (decide = resolve));
      return "commit";
    });
    await vi.waitFor(() => expect(running).toBe(true));
    const closing = mq.close();
    decide();
    await closing;
    expect(seen).toHaveLength(1);
  });

  test("a socket that breaks is opened again, and the group is said again", async () => {
    FakeSocket.script = (socket) => asks(FakeSocket.all.length === 1 ? "t1" : "t2")(socket);
    const { fetch } = fakeFetch(() => json(wire("t", { state: "committed" })));
    const mq = connect("http://h", { fetch, WebSocket: FakeSocket, retry });
    const asked: string[] = [];
    const states: string[] = [];
    const checker = mq.transactions("sellers").check(
      ({ id }) => {
        asked.push(id);
        return "commit";
      },
      { onState: ({ state }) => void states.push(state) },
    );
    await vi.waitFor(() => expect(asked).toEqual(["t1"]));
    FakeSocket.all[0]?.drop(4000);
    await vi.waitFor(() => expect(asked).toEqual(["t1", "t2"]));
    expect(states).toEqual(["open", "waiting", "open"]);
    await checker.stop();
    await mq.close();
  });

  test("without a WebSocket they come by long poll", async () => {
    let polls = 0;
    const { fetch, seen } = fakeFetch(async (call, signal) => {
      if (!call.path.endsWith("/checks")) return json(wire("t1", { state: "rolled_back" }));
      polls++;
      if (polls === 2) return json({ transactions: [wire("t1")] });
      if (polls > 2)
        await new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason), { once: true }),
        );
      return json({ transactions: [] });
    });
    FakeSocket.script = (socket) => socket.drop(1006);
    const mq = connect("http://h", { fetch, WebSocket: FakeSocket, retry });
    const checker = mq.transactions("sellers").check(() => "rollback");
    await vi.waitFor(() =>
      expect(seen.some(({ path }) => path.endsWith("/v1/transactions/t1/rollback"))).toBe(true),
    );
    expect(JSON.parse(seen.find(({ path }) => path.endsWith("/checks"))?.body ?? "")).toEqual({
      wait_ms: 0,
      max_checks: 8,
    });
    await checker.stop();
    await mq.close();
  });

  test("what no retry heals ends the checker with its reason", async () => {
    const { fetch } = fakeFetch(() => problem(400, "invalid_name"));
    const mq = connect("http://h", { fetch, retry, transports: ["long-poll"] });
    const checker = mq.transactions("sellers").check(() => "commit");
    await expect(checker.done).rejects.toMatchObject({ code: "invalid_name" });
  });
});
