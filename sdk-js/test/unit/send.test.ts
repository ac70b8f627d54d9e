import { describe, expect, test } from "vitest";
import { BucketMQError, connect } from "../../src/index.js";
import { fakeFetch, json, problem, stored } from "./fakes.js";

const quick = { baseMs: 1, capMs: 1 };
const fail = (): never => {
  throw new TypeError("fetch failed");
};

async function failure(promise: Promise<unknown>): Promise<BucketMQError> {
  const error = await promise.then(
    () => expect.fail("it should fail"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof BucketMQError)) throw error;
  return error;
}

describe("Client", () => {
  test("connect sends nothing; every request asks for the token", async () => {
    let asked = 0;
    const { fetch, seen } = fakeFetch(() => json(stored(7)));
    const mq = connect("http://h/base", { fetch, token: () => `t${++asked}` });
    expect(seen).toHaveLength(0);
    expect(await mq.topic("orders").send("x")).toEqual({
      messageId: "m7",
      queue: 0,
      offset: 7,
      duplicate: false,
    });
    await mq.topic("orders").send("x");
    expect(seen.map((call) => call.headers.get("Authorization"))).toEqual(["Bearer t1", "Bearer t2"]);
    expect(seen[0]?.path).toBe("/base/v1/topics/orders/messages");
  });

  test("close waits for sends in flight; later calls fail with closed", async () => {
    let answer: (response: Response) => void = () => {};
    const { fetch } = fakeFetch(() => new Promise<Response>((resolve) => (answer = resolve)));
    const mq = connect("http://h", { fetch });
    const sent = mq.topic("orders").send("x");
    let closed = false;
    const closing = mq.close().then(() => (closed = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).toBe(false);
    answer(json(stored(1)));
    expect((await sent).offset).toBe(1);
    await closing;
    expect((await failure(mq.topic("orders").send("x"))).code).toBe("closed");
    expect((await failure(mq.topics.get("orders"))).code).toBe("closed");
  });

  test.each(["..", "", "a/b", "a:b", "%2e", "-a", "a".repeat(128)])(
    "topic name %j never reaches the server",
    (name) => {
      const { fetch, seen } = fakeFetch();
      expect(() => connect("http://h", { fetch }).topic(name)).toThrow(BucketMQError);
      expect(seen).toHaveLength(0);
    },
  );
});

describe("Sends", () => {
  test("an unknown outcome is repeated with the same key and bytes", async () => {
    const { fetch, seen } = fakeFetch(
      fail,
      () => problem(504, "outcome_unknown"),
      () => json(stored(3)),
    );
    const mq = connect("http://h", { fetch, retry: quick });
    expect((await mq.topic("orders").send({ a: 1 })).offset).toBe(3);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map((call) => call.headers.get("Idempotency-Key"))).size).toBe(1);
    expect(seen[0]?.headers.get("Idempotency-Key")).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(seen.map((call) => call.body)).size).toBe(1);
  });

  test("a one-way send asks for no storing, and is repeated only where nothing was taken", async () => {
    const taken = { stored: 0, failed: 0, results: [{ index: 0, status: "accepted", message_id: "m" }] };
    const { fetch, seen } = fakeFetch(
      () => problem(503, "overloaded"),
      () => json(taken, 202),
      fail,
    );
    const topic = connect("http://h", { fetch, retry: quick }).topic("orders");
    await topic.sendOneWay({ a: 1 }, { tag: "t" });
    expect(seen).toHaveLength(2);
    expect(JSON.parse(seen[1]?.body ?? "")).toEqual({
      ack: "none",
      messages: [{ body: '{"a":1}', content_type: "application/json", tag: "t" }],
    });
    expect(seen[1]?.headers.has("Idempotency-Key")).toBe(false);
    expect((await failure(topic.sendOneWay("x"))).code).toBe("outcome_unknown");
    expect(seen).toHaveLength(3);
  });

  test("two sends have two keys", async () => {
    const { fetch, seen } = fakeFetch(() => json(stored(3)));
    const topic = connect("http://h", { fetch }).topic("orders");
    await Promise.all([topic.send("x"), topic.send("x")]);
    expect(seen[0]?.headers.get("Idempotency-Key")).not.toBe(seen[1]?.headers.get("Idempotency-Key"));
  });

  test("an unknown try makes the whole call unknown, whatever the last one says", async () => {
    const { fetch } = fakeFetch(fail, () => problem(503, "unavailable"));
    const mq = connect("http://h", { fetch, retry: { ...quick, attempts: 3 } });
    const error = await failure(mq.topic("orders").send("x", { idempotencyKey: "mine" }));
    expect(error).toMatchObject({
      code: "outcome_unknown",
      retryable: false,
      definite: false,
      idempotencyKey: "mine",
    });
    expect(error.cause).toMatchObject({ code: "unavailable" });
  });

  test("only definite tries: the last failure itself, retryable", async () => {
    const { fetch, seen } = fakeFetch(() => problem(503, "buffer_full"));
    const error = await failure(connect("http://h", { fetch, retry: quick }).topic("orders").send("x"));
    expect(error).toMatchObject({ code: "buffer_full", status: 503, retryable: true, requestId: "r1" });
    expect(seen).toHaveLength(5);
  });

  test("what cannot go away is not repeated", async () => {
    const { fetch, seen } = fakeFetch(() => problem(404, "topic_not_found"));
    const error = await failure(connect("http://h", { fetch }).topic("orders").send("x"));
    expect(error).toMatchObject({ code: "topic_not_found", retryable: false, definite: true });
    expect(seen).toHaveLength(1);
  });

  test("values: text, bytes, tombstone, JSON; an object with a body is JSON", async () => {
    const { fetch, seen } = fakeFetch(() => json(stored(1)));
    const topic = connect("http://h", { fetch }).topic("orders");
    for (const value of ["hé", new Uint8Array([0, 255]), null, { body: "x" }, 42, ""])
      await topic.send(value);
    const type = "application/json";
    expect(seen.map((call) => JSON.parse(call.body ?? "").messages[0])).toEqual([
      { body: "hé" },
      { body: "AP8=", encoding: "base64" },
      { body: null },
      { body: '{"body":"x"}', content_type: type },
      { body: "42", content_type: type },
      { body: "" },
    ]);
    for (const value of [undefined, () => 1, 1n]) {
      expect((await failure(topic.send(value))).code).toBe("invalid_argument");
    }
  });

  test("options travel with the message", async () => {
    const { fetch, seen } = fakeFetch(() => json(stored(1)));
    await connect("http://h", { fetch })
      .topic("orders")
      .send("x", {
        key: "42",
        keys: ["43"],
        tag: "paid",
        orderingKey: "c7",
        properties: { a: "" },
        contentType: "text/plain",
        bornAt: new Date(0),
      });
    expect(JSON.parse(seen[0]?.body ?? "").messages).toEqual([
      {
        body: "x",
        keys: ["42", "43"],
        tag: "paid",
        ordering_key: "c7",
        properties: { a: "" },
        content_type: "text/plain",
        born_at: "1970-01-01T00:00:00.000Z",
      },
    ]);
  });

  test("a condition on the next offset travels with the request, and a conflict tells the current one", async () => {
    const { fetch, seen } = fakeFetch(
      () => json(stored(1)),
      () =>
        problem(412, "next_offset_conflict", {
          errors: [{ pointer: "/if_next_offset", code: "c", next_offset: 9 }],
        }),
    );
    const topic = connect("http://h", { fetch, retry: quick }).topic("orders");
    await topic.send("x", { queue: 0, ifNextOffset: 7 });
    expect(JSON.parse(seen[0]?.body ?? "").if_next_offset).toBe(7);
    const error = await failure(topic.send("x", { queue: 0, ifNextOffset: 7 }));
    expect([error.code, error.definite, error.items[0]?.next_offset]).toEqual([
      "next_offset_conflict",
      true,
      9,
    ]);
  });

  test("a partly stored batch fails and says what is stored", async () => {
    const refused = {
      type: "t",
      title: "full",
      status: 503,
      code: "buffer_full",
      request_id: "r",
      retryable: true,
      definite: true,
    };
    const results = [
      { index: 0, status: "stored", message_id: "m", queue: 1, offset: 2 },
      { index: 1, status: "failed", error: refused },
    ];
    const { fetch } = fakeFetch(() => json({ stored: 1, failed: 1, results }, 207));
    const error = await failure(
      connect("http://h", { fetch })
        .topic("orders")
        .sendBatch([{ body: "a" }, { body: "b" }]),
    );
    expect(error.code).toBe("partly_stored");
    expect(error.retryable).toBe(false);
    expect(error.outcomes?.map((outcome) => outcome.stored)).toEqual([true, false]);
  });
});

describe("Search", () => {
  const found = (body: string) => ({
    message_id: `id-${body}`,
    queue: 0,
    offset: 1,
    stored_at: "2026-12-01T08:30:00.000Z",
    born_at: "2026-12-01T08:30:00.000Z",
    body,
    keys: ["42", "x"],
  });

  test("a search by key goes on over pages, empty ones too", async () => {
    const { fetch, seen } = fakeFetch(
      () => json({ items: [found("a")], next_page_token: "t1" }),
      () => json({ items: [], next_page_token: "t2" }),
      () => json({ items: [found("b"), found("c")] }),
    );
    const bodies: (string | null)[] = [];
    const options = { key: "42", from: new Date(0), to: 5000, tag: "paid", limit: 2 };
    for await (const message of connect("http://h", { fetch }).topic("orders").search(options)) {
      expect(message.topic).toBe("orders");
      bodies.push(message.text());
    }
    expect(bodies).toEqual(["a", "b", "c"]);
    expect(seen.map((call) => call.path)).toEqual(Array(3).fill("/v1/topics/orders/search"));
    const queries = seen.map((call) => Object.fromEntries(call.query));
    const asked = {
      key: "42",
      from: "1970-01-01T00:00:00.000Z",
      to: "1970-01-01T00:00:05.000Z",
      tag: "paid",
      limit: "2",
    };
    expect(queries).toEqual([asked, { ...asked, page_token: "t1" }, { ...asked, page_token: "t2" }]);
  });

  test("a search that is refused or aborted fails", async () => {
    const { fetch } = fakeFetch(() => problem(400, "invalid_parameter"));
    const topic = connect("http://h", { fetch }).topic("orders");
    expect((await failure(topic.search({ key: "a b" }).next())).code).toBe("invalid_parameter");
    const reason = new Error("enough");
    await expect(topic.search({ key: "k", signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
  });
});

describe("Retries", () => {
  test("Retry-After comes on top of the pause", async () => {
    const { fetch } = fakeFetch(
      () => problem(503, "unavailable", {}, { "Retry-After": "1" }),
      () => json(stored(1)),
    );
    const started = performance.now();
    await connect("http://h", { fetch, retry: quick }).topic("orders").send("x");
    expect(performance.now() - started).toBeGreaterThanOrEqual(1000);
  });

  test("a pause that would end too late is not made", async () => {
    const { fetch, seen } = fakeFetch(() => problem(503, "unavailable", { retry_after_ms: 5000 }));
    const started = performance.now();
    const error = await failure(
      connect("http://h", { fetch, retry: { withinMs: 1000 } })
        .topic("orders")
        .send("x"),
    );
    expect(error).toMatchObject({ code: "unavailable", retryAfterMs: 5000 });
    expect(seen).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(900);
  });

  test("a change of a topic is repeated only when nothing was changed", async () => {
    const definite = fakeFetch(
      () => problem(503, "unavailable"),
      () => problem(504, "outcome_unknown"),
    );
    const error = await failure(
      connect("http://h", { fetch: definite.fetch, retry: quick }).topics.put("orders"),
    );
    expect(definite.seen).toHaveLength(2);
    expect(error.code).toBe("outcome_unknown");
    expect(error.idempotencyKey).toBeUndefined();
  });

  test("a try without an answer ends after timeoutMs", async () => {
    const { fetch } = fakeFetch(
      (_, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const mq = connect("http://h", { fetch, timeoutMs: 20, retry: { ...quick, attempts: 2 } });
    const error = await failure(mq.topics.get("orders"));
    expect(error).toMatchObject({ code: "timeout", retryable: true });
    expect(await failure(mq.topic("orders").send("x"))).toMatchObject({
      code: "outcome_unknown",
      retryable: false,
    });
  });

  test("a connection that was refused has sent nothing", async () => {
    const refused = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
    const { fetch } = fakeFetch(() => Promise.reject(refused));
    const error = await failure(connect("http://h", { fetch, retry: quick }).topic("orders").send("x"));
    expect(error).toMatchObject({ code: "network", retryable: true, definite: true });
  });
});

describe("Errors", () => {
  test("an abort stays an AbortError and is not retried", async () => {
    const { fetch, seen } = fakeFetch(
      (_, signal) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    const stop = new AbortController();
    const sent = connect("http://h", { fetch }).topic("orders").send("x", { signal: stop.signal });
    setTimeout(() => stop.abort(), 10);
    await expect(sent).rejects.toHaveProperty("name", "AbortError");
    expect(seen).toHaveLength(1);
  });

  test("the answer of a proxy is http_<status>", async () => {
    const { fetch } = fakeFetch(() => new Response("<html>", { status: 403 }));
    const error = await failure(connect("http://h", { fetch }).topics.get("orders"));
    expect(error).toMatchObject({ code: "http_403", status: 403, retryable: false });
  });

  test("an answer that is not JSON is invalid_answer, and a send then unknown", async () => {
    const { fetch } = fakeFetch(() => new Response("<html>"));
    const mq = connect("http://h", { fetch, retry: quick });
    expect((await failure(mq.topics.get("orders"))).code).toBe("invalid_answer");
    expect((await failure(mq.topic("orders").send("x"))).code).toBe("outcome_unknown");
  });

  test("a token function that throws is token_failed, and nothing was sent", async () => {
    const { fetch, seen } = fakeFetch(() => json(stored(1)));
    const token = (): never => {
      throw new Error("no");
    };
    const error = await failure(
      connect("http://h", { fetch, token, retry: quick }).topic("orders").send("x"),
    );
    expect(error).toMatchObject({ code: "token_failed", retryable: true });
    expect(seen).toHaveLength(0);
  });
});

describe("Delayed sends", () => {
  test("delays are written as the API has them, and the handle comes back", async () => {
    const outcome = { index: 0, status: "stored", message_id: "m", queue: 1, recall_handle: "h+/1" };
    const { fetch, seen } = fakeFetch(
      () => json({ stored: 1, failed: 0, results: [outcome] }),
      () => json(stored(1)),
      () => json(stored(2)),
      fail,
      () => new Response(null, { status: 204 }),
      () => problem(409, "already_delivered"),
    );
    const topic = connect("http://h", { fetch, retry: quick }).topic("later");
    const sent = await topic.send("x", { delayMs: 5000 });
    expect(sent).toEqual({ messageId: "m", queue: 1, offset: -1, duplicate: false, recallHandle: "h+/1" });
    await topic.send("x", { deliverAt: new Date(0) });
    await topic.send("x", { delayLevel: 3 });
    await topic.recall("h+/1"); // sent again after the failure: it is the same recall
    expect(seen[0]?.body).toContain('"delay_ms":5000');
    expect(seen[1]?.body).toContain('"deliver_at":"1970-01-01T00:00:00.000Z"');
    expect(seen[2]?.body).toContain('"delay_level":3');
    expect(seen[4]?.method).toBe("DELETE");
    expect(seen[4]?.path).toBe("/v1/topics/later/scheduled/h%2B%2F1");
    expect((await failure(topic.recall("h"))).code).toBe("already_delivered");
  });
});
