import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import {
  type Client,
  connect,
  type Message,
  type SendResult,
  type TailState,
  type TransportName,
} from "../../src/index.js";
import { Gateway } from "./gateway.js";

let gateway: Gateway;
let mq: Client;

beforeAll(async () => {
  gateway = await Gateway.start();
  mq = connect(gateway.url, { WebSocket });
});

afterAll(async () => {
  await mq?.close();
  await gateway?.[Symbol.asyncDispose]();
});

let names = 0;
async function newTopic(queues = 4): Promise<string> {
  const name = `t${++names}`;
  await mq.topics.put(name, { queues });
  return name;
}

/** Resolves when the tail is open; everything that it yields goes to `got`. */
function collect(
  name: string,
  options: {
    readonly transport: TransportName;
    readonly client?: Client;
    readonly tags?: string;
    readonly sql?: string;
  },
): {
  readonly open: Promise<void>;
  readonly got: Message[];
  readonly states: TailState[];
  stop(): Promise<void>;
} {
  const got: Message[] = [];
  const states: TailState[] = [];
  const stop = new AbortController();
  const client = options.client ?? connect(gateway.url, { WebSocket, transports: [options.transport] });
  let opened: () => void = () => {};
  const open = new Promise<void>((resolve) => (opened = resolve));
  const onState = (state: TailState): void => {
    states.push(state);
    if (state.state === "open") opened();
  };
  const { tags, sql } = options;
  const tail = client.topic(name).tail({
    onState,
    signal: stop.signal,
    ...(tags === undefined ? {} : { tags }),
    ...(sql === undefined ? {} : { sql }),
  });
  const run = (async () => {
    for await (const message of tail) got.push(message);
  })();
  run.catch(() => {}); // stop looks at it
  const end = async (): Promise<void> => {
    stop.abort();
    await expect(run).rejects.toHaveProperty("name", "AbortError");
    await client.close();
  };
  return { open: Promise.race([open, run]), got, states, stop: end };
}

describe("Topics", () => {
  test("put, get, list, change and delete", async () => {
    const made = await mq.topics.put("admin-a", {
      type: "fifo",
      queues: 2,
      retentionMs: 1000,
      attributes: { owner: "x" },
    });
    expect(made).toMatchObject({
      name: "admin-a",
      type: "fifo",
      queues: 2,
      epoch: 1,
      attributes: { owner: "x" },
    });
    await expect(mq.topics.put("admin-a", {}, { createOnly: true })).rejects.toHaveProperty(
      "code",
      "topic_exists",
    );
    const grown = await mq.topics.put("admin-a", { type: "fifo", queues: 3 }, { ifMatch: made.etag });
    expect(grown.queues).toBe(3);
    await expect(mq.topics.delete("admin-a", { ifMatch: made.etag })).rejects.toMatchObject({
      code: "version_conflict",
    });
    await mq.topics.put("admin-b");
    const listed: string[] = [];
    for await (const topic of mq.topics.list({ prefix: "admin-" })) listed.push(topic.name);
    expect(listed).toEqual(["admin-a", "admin-b"]);
    await mq.topics.delete("admin-a");
    await expect(mq.topics.get("admin-a")).rejects.toMatchObject({ code: "topic_not_found", status: 404 });
    await expect(mq.topic("admin-a").send("x")).rejects.toMatchObject({
      code: "topic_not_found",
      definite: true,
    });
  });
});

describe("Sends and reads", () => {
  test("every kind of value and every option comes back as it was", async () => {
    const name = await newTopic(1);
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    const options = {
      key: "k1",
      keys: ["k2"],
      tag: "paid",
      properties: { ü: "", n: "1" },
      bornAt: new Date(1e12),
    };
    for (const value of ["hé\u0000", "", null, bytes, { a: [1, null] }])
      await mq.topic(name).send(value, options);
    const got: Message[] = [];
    for await (const message of mq.topic(name).read(0)) got.push(message);
    expect(got.map((m) => m.offset)).toEqual([0, 1, 2, 3, 4]);
    expect(got.map((m) => m.tombstone)).toEqual([false, false, true, false, false]);
    expect([got[0]?.text(), got[1]?.text(), got[2]?.text()]).toEqual(["hé\u0000", "", null]);
    expect(got[3]?.bytes()).toEqual(bytes);
    expect(got[4]?.json()).toEqual({ a: [1, null] });
    expect(got[4]?.contentType).toBe("application/json");
    for (const m of got) {
      expect(m).toMatchObject({
        topic: name,
        queue: 0,
        tag: "paid",
        keys: ["k1", "k2"],
        properties: options.properties,
      });
      expect(m.bornAt).toEqual(options.bornAt);
      expect(Math.abs(m.storedAt.getTime() - Date.now())).toBeLessThan(60_000);
    }
  });

  test("a batch keeps its order per ordering key, and a key makes a send once", async () => {
    const name = await newTopic();
    const sent = await mq
      .topic(name)
      .sendBatch(Array.from({ length: 100 }, (_, i) => ({ body: String(i), orderingKey: "one" })));
    expect(new Set(sent.map((result) => result.queue)).size).toBe(1);
    expect(sent.map((result) => result.offset)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    const first = await mq.topic(name).send("x", { idempotencyKey: "once" });
    expect(await mq.topic(name).send("x", { idempotencyKey: "once" })).toMatchObject({
      offset: first.offset,
      queue: first.queue,
    });
    await expect(mq.topic(name).send("y", { idempotencyKey: "once" })).rejects.toMatchObject({
      code: "idempotency_key_reused",
      status: 422,
    });
  });

  test("pages, tags, offsets, and waiting for more", async () => {
    const name = await newTopic(1);
    await mq
      .topic(name)
      .sendBatch(Array.from({ length: 25 }, (_, i) => ({ body: `${i}`, tag: i % 2 ? "odd" : "even" })));
    const pages: number[] = [];
    for await (const page of mq.topic(name).read(0, { from: 5, limit: 10 }).pages())
      pages.push(page.messages.length);
    expect(pages).toEqual([10, 10]);
    const odd: string[] = [];
    for await (const m of mq.topic(name).read(0, { tags: "odd" })) odd.push(String(m.text()));
    expect(odd).toHaveLength(12);
    const even: string[] = [];
    for await (const m of mq.topic(name).read(0, { sql: "NOT TAGS = 'odd'" })) even.push(String(m.text()));
    expect(even).toHaveLength(13);
    await expect(mq.topic(name).read(0, { from: 99 })[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "offset_beyond_end",
      items: [{ next_offset: 25 }],
    });
    const follow = mq.topic(name).read(0, { from: "latest", follow: true })[Symbol.asyncIterator]();
    const next = follow.next();
    await mq.topic(name).send("late");
    expect((await next).value?.text()).toBe("late");
    await follow.return();
  });
});

describe("Producer", () => {
  test("kill -9 of the server under a producer: everything once, in order per key", async () => {
    const name = await newTopic(3);
    const client = connect(gateway.url, { retry: { attempts: 100, capMs: 300 } });
    const producer = client.topic(name).producer({ lingerMs: 2, maxMessages: 50 });
    const sent: Promise<SendResult>[] = [];
    for (let i = 0; i < 1500; i++) {
      sent.push(producer.send(`${i}`, { orderingKey: `k${i % 7}` }));
      if (i % 50 === 0) await sent[i];
      if (i === 700) {
        await gateway.kill();
        await gateway.start();
      }
    }
    await producer.flush();
    const places = await Promise.all(sent);
    const stored = new Map<string, string>();
    const last = new Map<string, number>();
    for (let queue = 0; queue < 3; queue++) {
      for await (const message of mq.topic(name).read(queue, { limit: 1000 })) {
        const text = message.text() ?? "";
        expect(stored.has(text)).toBe(false);
        stored.set(text, `${queue}/${message.offset}`);
        const key = message.orderingKey ?? "";
        expect(Number(text)).toBeGreaterThan(last.get(key) ?? -1);
        last.set(key, Number(text));
      }
    }
    expect(stored.size).toBe(1500);
    for (const [i, { queue, offset, duplicate }] of places.entries()) {
      if (!duplicate) expect(stored.get(`${i}`)).toBe(`${queue}/${offset}`);
    }
    await client.close();
  });

  test("a faulty message of a batch fails alone, with the server's reason", async () => {
    const name = await newTopic(1);
    const producer = mq.topic(name).producer();
    const sent = [producer.send("a"), producer.send("b", { tag: "two words" }), producer.send("c")];
    const [a, b, c] = await Promise.allSettled(sent);
    expect([a?.status, b?.status, c?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(b).toMatchObject({ reason: { definite: true, items: [{ pointer: "/messages/1/tag" }] } });
  });
});

describe.each(["websocket", "sse", "long-poll"] as const)("Tail over %s", (transport) => {
  test("brings everything that is sent once it is open, with tags, in order per queue", async () => {
    const name = await newTopic();
    const all = collect(name, { transport });
    const paid = collect(name, { transport, tags: "paid || gone" });
    const third = collect(name, { transport, sql: "third = TRUE AND TAGS = 'paid'" });
    await Promise.all([all.open, paid.open, third.open]);
    for (let i = 0; i < 20; i++)
      await mq.topic(name).send(
        { i },
        {
          tag: i % 2 ? "paid" : "new",
          orderingKey: `k${i % 3}`,
          properties: { third: String(i % 3 === 0) },
        },
      );
    await mq.topic(name).send(null, { tag: "gone" });
    await expect
      .poll(() => [all.got.length, paid.got.length, third.got.length], { timeout: 20_000 })
      .toEqual([21, 11, 3]);
    const next = new Map<number, number>();
    for (const m of all.got) {
      expect(m.offset).toBe(next.get(m.queue) ?? 0);
      next.set(m.queue, m.offset + 1);
    }
    expect(all.got.filter((m) => m.tombstone)).toHaveLength(1);
    expect(all.states.filter((state) => state.state === "open")).toEqual([{ state: "open", transport }]);
    await Promise.all([all.stop(), paid.stop(), third.stop()]);
  });

  test("a stored cursor goes on exactly behind the last message, on any transport that can", async () => {
    const name = await newTopic();
    for (let i = 0; i < 30; i++) await mq.topic(name).send(`${i}`);
    const client = connect(gateway.url, { WebSocket, transports: [transport] });
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let round = 0; round < 6; round++) {
      const tail = client.topic(name).tail({ from: cursor === undefined ? "earliest" : { cursor } });
      let count = 0;
      for await (const m of tail) {
        seen.push(String(m.text()));
        cursor = tail.cursor;
        if (++count === 5) break;
      }
    }
    expect(seen.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i));
    // A client that has every transport goes on from it as well.
    if (cursor === undefined) throw new Error("no cursor");
    const next = mq.topic(name).tail({ from: { cursor } })[Symbol.asyncIterator]();
    const waits = next.next();
    await mq.topic(name).send("last");
    expect((await waits).value?.text()).toBe("last");
    await next.return();
    await client.close();
  });

  test("kill -9 of the server in the middle: nothing that was stored is missing or comes twice", async () => {
    const name = await newTopic();
    const tail = collect(name, { transport });
    await tail.open;
    const sent: string[] = [];
    let sending = true;
    const sender = connect(gateway.url);
    const run = (async () => {
      for (let i = 0; sending; i++) {
        await sender.topic(name).send(`${i}`);
        sent.push(`${i}`);
      }
    })();
    await expect.poll(() => tail.got.length, { timeout: 20_000 }).toBeGreaterThan(20);
    await gateway.kill();
    await gateway.start();
    const before = sent.length;
    await expect.poll(() => sent.length, { timeout: 30_000 }).toBeGreaterThan(before + 20);
    sending = false;
    await run;
    await expect.poll(() => tail.got.length, { timeout: 30_000 }).toBe(sent.length);
    expect(tail.got.map((m) => Number(m.text())).sort((a, b) => a - b)).toEqual(sent.map(Number));
    expect(tail.states.filter((state) => state.state === "waiting").length).toBeGreaterThan(0);
    await sender.close();
    await tail.stop();
  });
});

describe("Fallback", () => {
  test("a tail that polls goes back to the socket when it is let in, without a message lost or twice", async () => {
    const name = await newTopic(2);
    let refuse = true;
    class Gated extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(refuse ? "ws://127.0.0.1:1" : url, protocols);
      }
    }
    const clock = vi.spyOn(Date, "now");
    const client = connect(gateway.url, { WebSocket: Gated, transports: ["websocket", "long-poll"] });
    const tail = collect(name, { transport: "long-poll", client });
    const opened = (): string[] =>
      tail.states.flatMap((state) => (state.state === "open" ? [state.transport] : []));
    try {
      await tail.open;
      for (let i = 0; i < 10; i++) await mq.topic(name).send(`${i}`);
      await expect.poll(() => tail.got.length, { timeout: 20_000 }).toBe(10);
      refuse = false;
      const real = performance.timeOrigin;
      clock.mockImplementation(() => real + performance.now() + 301_000);
      for (let i = 10; i < 20; i++) await mq.topic(name).send(`${i}`);
      await expect.poll(opened, { timeout: 20_000 }).toEqual(["long-poll", "websocket"]);
      for (let i = 20; i < 30; i++) await mq.topic(name).send(`${i}`);
      await expect.poll(() => tail.got.length, { timeout: 20_000 }).toBe(30);
      const numbers = tail.got.map((m) => Number(m.text())).sort((a, b) => a - b);
      expect(numbers).toEqual(Array.from({ length: 30 }, (_, i) => i));
      expect(opened()).toEqual(["long-poll", "websocket"]);
    } finally {
      clock.mockRestore();
      await tail.stop();
    }
  });

  test("without a WebSocket tails use a stream", async () => {
    const name = await newTopic();
    const bare = connect(gateway.url);
    const tail = collect(name, { transport: "sse", client: bare });
    await tail.open;
    expect(tail.states.at(-1)).toEqual({ state: "open", transport: "sse" });
    await tail.stop();
  });

  test("tails of a client share one socket, and a slow consumer loses nothing", async () => {
    const name = await newTopic(1);
    let sockets = 0;
    class Counted extends WebSocket {
      constructor(url: string, protocols: string[]) {
        super(url, protocols);
        sockets++;
      }
    }
    const client = connect(gateway.url, { WebSocket: Counted, transports: ["websocket"] });
    const slow = client.topic(name).tail({ from: "earliest" })[Symbol.asyncIterator]();
    const other = client.topic(name).tail({ from: "earliest" })[Symbol.asyncIterator]();
    await mq.topic(name).send("first");
    expect((await Promise.all([slow.next(), other.next()])).map((r) => r.value?.text())).toEqual([
      "first",
      "first",
    ]);
    // Three times the credit in bytes: it has to come back again and again.
    const body = "é".repeat(200_000);
    for (let i = 0; i < 30; i++) await mq.topic(name).send(body);
    for (let i = 1; i <= 30; i++) expect((await slow.next()).value?.offset).toBe(i);
    expect(sockets).toBe(1);
    await slow.return();
    await other.return();
    await client.close();
  });
});

describe("Delayed messages", () => {
  test("come when they are due, unless they are recalled", async () => {
    const name = `t${++names}`;
    await mq.topics.put(name, { queues: 1, type: "delay" });
    const topic = mq.topic(name);
    const began = Date.now();
    const kept = await topic.send("kept", { delayMs: 300 });
    const gone = await topic.send("gone", { delayLevel: 1 });
    await topic.recall(gone.recallHandle ?? "");
    for await (const message of topic.read(0, { follow: true })) {
      expect(message.text()).toBe("kept");
      break;
    }
    expect(Date.now() - began).toBeGreaterThanOrEqual(300);
    await expect(topic.recall(kept.recallHandle ?? "")).rejects.toMatchObject({ code: "already_delivered" });
  });
});

describe("Requests", () => {
  test("get the first reply", async () => {
    const name = `t${++names}`;
    await mq.topics.put(name, { queues: 1 });
    const topic = mq.topic(name);
    const asking = topic.request({ item: 42 }, { timeoutMs: 20_000, tag: "price" });
    const arrived = topic.read(0, { follow: true })[Symbol.asyncIterator]();
    const message = (await arrived.next()).value as Message;
    expect(message.json()).toEqual({ item: 42 });
    expect(message.tag).toBe("price");
    const address = message.replyTo ?? "";
    await mq.reply(address, { price: 7 }, { properties: { by: "me" } });
    await expect(mq.reply(address, 8)).rejects.toHaveProperty("code", "already_replied");
    const reply = await asking;
    expect(reply.json()).toEqual({ price: 7 });
    expect(reply).toMatchObject({ queue: 0, offset: 0, properties: { by: "me" } });
    const bytes = topic.request("bytes", { timeoutMs: 20_000 });
    const second = (await arrived.next()).value as Message;
    await mq.reply(second.replyTo ?? "", new Uint8Array([255]));
    expect((await bytes).bytes()).toEqual(new Uint8Array([255]));
    await arrived.return?.(undefined);
    await expect(topic.request("nobody", { timeoutMs: 50 })).rejects.toHaveProperty("code", "reply_timeout");
    await expect(mq.reply("nonsense", 1)).rejects.toHaveProperty("code", "reply_address_invalid");
  });
});
