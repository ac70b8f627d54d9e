import { describe, expect, test } from "vitest";
import { BucketMQError, connect, type ProducerOptions, type SendResult } from "../../src/index.js";
import { fakeFetch, json, problem, type Seen } from "./fakes.js";

const retry = { baseMs: 1, capMs: 1, attempts: 3 };

interface Request {
  readonly messages: readonly { readonly body: string }[];
  readonly producer: { readonly id: string; readonly epoch: number; readonly seq: number };
}

const requestOf = (seen: Seen | undefined): Request => JSON.parse(seen?.body ?? "null") as Request;
const bodiesOf = (seen: Seen | undefined): string =>
  requestOf(seen)
    .messages.map(({ body }) => body)
    .join(" ");

/** Stores everything, each message at the next offset. */
function store(): (seen: Seen) => Response {
  let offset = 0;
  return (seen) => {
    const results = requestOf(seen).messages.map((_, index) => ({
      index,
      status: "stored",
      message_id: `m${offset}`,
      queue: 0,
      offset: offset++,
    }));
    return json({ stored: results.length, failed: 0, results });
  };
}

const fail = (): never => {
  throw new TypeError("fetch failed");
};

function producer(options: ProducerOptions, ...answers: Parameters<typeof fakeFetch>) {
  const { fetch, seen } = fakeFetch(...answers);
  const mq = connect("http://h", { fetch, retry });
  return { mq, seen, producer: mq.topic("orders").producer({ epoch: 7, ...options }) };
}

async function codeOf(sent: Promise<unknown>): Promise<string> {
  return sent.then(
    () => "stored",
    (error: unknown) => (error instanceof BucketMQError ? error.code : String(error)),
  );
}

describe("Producer", () => {
  test("sends of one moment are one request, in order, and each has its own result", async () => {
    const { seen, producer: p } = producer({}, store());
    const sent = ["a", "b", "c"].map((body) => p.send(body, { orderingKey: "k" }));
    expect(seen).toHaveLength(0);
    expect((await Promise.all(sent)).map(({ offset }) => offset)).toEqual([0, 1, 2]);
    expect(seen.map(bodiesOf)).toEqual(["a b c"]);
    await p.send("d");
    expect(seen.map((call) => requestOf(call).producer)).toEqual([
      { id: expect.stringMatching(/^[0-9a-f]{32}$/), epoch: 7, seq: 0 },
      { id: requestOf(seen[0]).producer.id, epoch: 7, seq: 1 },
    ]);
  });

  test("a message waits lingerMs, a full batch does not", async () => {
    const { seen, producer: p } = producer({ lingerMs: 60, maxMessages: 3 }, store());
    const started = performance.now();
    await p.send("alone");
    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
    const full = performance.now();
    const sent = ["a", "b", "c", "d"].map((body) => p.send(body));
    await Promise.all(sent.slice(0, 3));
    expect(performance.now() - full).toBeLessThan(55);
    await sent[3];
    expect(seen.map(bodiesOf)).toEqual(["alone", "a b c", "d"]);
  });

  test("a batch has at most maxBytes; a larger message goes alone", async () => {
    const { seen, producer: p } = producer({ maxBytes: 100 }, store());
    const large = "é".repeat(90);
    await Promise.all(["x".repeat(30), "y".repeat(30), large, "z"].map((body) => p.send(body)));
    expect(seen.map((call) => requestOf(call).messages.map(({ body }) => body.length))).toEqual([
      [30, 30],
      [90],
      [1],
    ]);
  });

  test("one request at a time: what comes meanwhile gathers", async () => {
    let answer: () => void = () => {};
    const take = store();
    const { seen, producer: p } = producer(
      { lingerMs: 0 },
      async (call) => {
        await new Promise<void>((resolve) => (answer = resolve));
        return take(call);
      },
      take,
    );
    const sent = [p.send("a")];
    await expect.poll(() => seen.length).toBe(1);
    for (const body of ["b", "c", "d"]) sent.push(p.send(body));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toHaveLength(1);
    answer();
    await Promise.all(sent);
    expect(seen.map(bodiesOf)).toEqual(["a", "b c d"]);
  });

  test("an unknown outcome is repeated with the same number and bytes", async () => {
    const take = store();
    const { seen, producer: p } = producer({}, fail, () => problem(504, "outcome_unknown"), take);
    await Promise.all([p.send("a"), p.send("b")]);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map((call) => call.body)).size).toBe(1);
    await p.send("c");
    expect(requestOf(seen[3]).producer).toMatchObject({ epoch: 7, seq: 1 });
  });

  test("when it stays unknown, what follows has a higher epoch, so that the lost request comes too late", async () => {
    const { seen, producer: p } = producer({}, fail, fail, fail, store());
    expect(await Promise.all([p.send("a"), p.send("b")].map(codeOf))).toEqual([
      "outcome_unknown",
      "outcome_unknown",
    ]);
    await p.send("c");
    expect(requestOf(seen[3]).producer).toMatchObject({ epoch: 8, seq: 0 });
  });

  test("what surely stored nothing keeps its number", async () => {
    const { seen, producer: p } = producer({}, () => problem(404, "topic_not_found"), store());
    expect(await codeOf(p.send("a"))).toBe("topic_not_found");
    await p.send("b");
    expect(requestOf(seen[1]).producer).toMatchObject({ epoch: 7, seq: 0 });
  });

  test("a faulty message fails alone", async () => {
    const errors = [{ pointer: "/messages/1/tag", code: "invalid_field", detail: "no blanks" }];
    const { seen, producer: p } = producer({}, () => problem(422, "invalid_message", { errors }), store());
    const sent = [p.send("a"), p.send("b", { tag: "not one word" }), p.send("c")];
    expect(await Promise.all(sent.map(codeOf))).toEqual(["stored", "invalid_message", "stored"]);
    expect(seen.map(bodiesOf)).toEqual(["a b c", "a c"]);
    expect(requestOf(seen[1]).producer).toMatchObject({ epoch: 7, seq: 0 });
  });

  test("a server that has forgotten the producer: a higher epoch, once", async () => {
    const gap = (): Response => problem(409, "producer_gap");
    const { seen, producer: p } = producer({}, gap, store());
    await p.send("a");
    expect(requestOf(seen[1]).producer).toMatchObject({ epoch: 8, seq: 0 });
    const hopeless = producer({}, gap);
    expect(await codeOf(hopeless.producer.send("a"))).toBe("producer_gap");
    expect(hopeless.seen).toHaveLength(2);
  });

  test("a producer that was replaced ends", async () => {
    const { seen, producer: p } = producer({ id: "billing-1" }, () => problem(409, "producer_fenced"));
    expect(await codeOf(p.send("a"))).toBe("producer_fenced");
    expect(await codeOf(p.send("b"))).toBe("producer_fenced");
    expect(seen).toHaveLength(1);
  });

  test("what waits is bounded, and ready says when there is room", async () => {
    let answer: () => void = () => {};
    const take = store();
    const { producer: p } = producer({ maxPendingBytes: 1000 }, async (call) => {
      await new Promise<void>((resolve) => (answer = resolve));
      return take(call);
    });
    const first = p.send("x".repeat(1000)); // one always fits
    const full = await p.send("y").catch((error: unknown) => error);
    expect(full).toMatchObject({ code: "buffer_full", retryable: true });
    let ready = false;
    const waits = p.ready().then(() => (ready = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ready).toBe(false);
    answer();
    await Promise.all([first, waits]);
    const second = p.send("z");
    await new Promise((resolve) => setTimeout(resolve, 20));
    answer();
    await second;
  });

  test("a message whose signal aborts before it is sent is not sent", async () => {
    const { seen, producer: p } = producer({ lingerMs: 20 }, store());
    const stop = new AbortController();
    const sent = [p.send("a"), p.send("b", { signal: stop.signal }), p.send("c")];
    const gone = codeOf(sent[1] ?? Promise.resolve());
    stop.abort(new Error("not wanted"));
    expect(await gone).toBe("Error: not wanted");
    await Promise.all([sent[0], sent[2]]);
    expect(seen.map(bodiesOf)).toEqual(["a c"]);
    expect(await codeOf(p.send("d", { signal: stop.signal }))).toBe("Error: not wanted");
  });

  test("flush does not linger, and waits for every send of before, also for one that fails", async () => {
    const { seen, producer: p } = producer({ lingerMs: 60_000 }, () => problem(404, "topic_not_found"));
    const sent = codeOf(p.send("a"));
    await p.flush();
    expect(seen).toHaveLength(1);
    expect(await sent).toBe("topic_not_found");
    await p.flush(); // nothing waits
  });

  test.each(["the producer", "the client"])(
    "closing %s sends what waits, and then takes nothing more",
    async (who) => {
      const { mq, seen, producer: p } = producer({ lingerMs: 60_000 }, store());
      const sent: Promise<SendResult>[] = [p.send("a"), p.send("b")];
      await (who === "the client" ? mq.close() : p.close());
      expect((await Promise.all(sent)).map(({ offset }) => offset)).toEqual([0, 1]);
      expect(seen).toHaveLength(1);
      expect(await codeOf(p.send("c"))).toBe("closed");
    },
  );

  test.each([
    { lingerMs: -1 },
    { maxMessages: 0 },
    { maxMessages: 1001 },
    { maxBytes: 5 << 20 },
    { maxPendingBytes: 0 },
    { id: "" },
    { epoch: -1 },
  ])("%j is refused at once", (options) => {
    expect(() => connect("http://h").topic("orders").producer(options)).toThrow(BucketMQError);
  });
});
