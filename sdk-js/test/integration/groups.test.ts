import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import {
  BucketMQError,
  type Client,
  type ConsumeMode,
  type ConsumerEvent,
  connect,
  type Delivery,
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
/** A topic with messages, and a group that begins at the first of them. */
async function given(
  bodies: readonly string[],
  settings: Parameters<Client["groups"]["put"]>[1] = {},
): Promise<string> {
  const name = `g${++names}`;
  await mq.topics.put(name, { queues: 1 });
  await mq.groups.put(name, { consumeFrom: "first", resumeWindowMs: 1_000, ...settings });
  if (bodies.length > 0) await mq.topic(name).sendBatch(bodies.map((body) => ({ body })));
  return name;
}

function client(transport: TransportName): Client {
  return connect(gateway.url, { WebSocket, transports: [transport] });
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function offsetOf(name: string): Promise<number | null | undefined> {
  return (await mq.group(name).offsets()).map(({ offset }) => offset)[0];
}

async function collect<T>(list: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of list) all.push(item);
  return all;
}

const both = ["websocket", "long-poll"] as const;

describe("Groups", () => {
  test("put, get, list, change and delete", async () => {
    const made = await mq.groups.put("admin", {
      consumeFrom: new Date("2026-01-01T00:00:00Z"),
      retryDelaysMs: [10],
    });
    expect(made).toMatchObject({ name: "admin", mode: "clustering", retryDelaysMs: [10] });
    expect(made.consumeFrom).toEqual(new Date("2026-01-01T00:00:00Z"));
    await expect(mq.groups.put("admin", {}, { createOnly: true })).rejects.toHaveProperty(
      "code",
      "group_exists",
    );
    const changed = await mq.groups.update("admin", { ordered: true }, { ifMatch: made.etag });
    expect(changed.ordered).toBe(true);
    expect(await mq.groups.get("admin")).toEqual(changed);
    const all: string[] = [];
    for await (const { name } of mq.groups.list({ prefix: "adm" })) all.push(name);
    expect(all).toEqual(["admin"]);
    await mq.groups.delete("admin");
    await expect(mq.groups.get("admin")).rejects.toHaveProperty("code", "group_not_found");
    expect(() => mq.group("../x")).toThrow(BucketMQError);
  });

  test.each(both)("consume over %s: ack, nack, and go on where it was", async (transport) => {
    const name = await given(["a", "b", "c"]);
    const first = client(transport);
    const seen: string[] = [];
    for await (const message of first.group(name).consume(name)) {
      seen.push(`${message.text()}${message.attempt}`);
      if (message.text() === "b" && message.attempt === 1) await message.nack({ delayMs: 10 });
      else await message.ack();
      if (seen.length === 4) break;
    }
    expect(seen.toSorted()).toEqual(["a1", "b1", "b2", "c1"]);
    await first.close();
    await expect.poll(() => offsetOf(name), { timeout: 10_000 }).toBe(3);
    await mq.topic(name).send("d");
    const second = client(transport);
    for await (const message of second.group(name).consume({ topic: name })) {
      expect(message.text()).toBe("d");
      await message.ack();
      break;
    }
    await second.close();
  });

  test.each([
    ["websocket", "group"],
    ["websocket", "shared"],
    ["long-poll", "shared"],
  ] as const)(
    "over %s in mode %s: what fails comes again, and is a dead letter at last",
    async (transport, mode) => {
      const backoff = { initialMs: 1_000, maxMs: 2_000, multiplier: 2 };
      const name = await given(["a", "b"], { retryDelaysMs: backoff, maxAttempts: 2 });
      expect(await mq.groups.get(name)).toMatchObject({ retryDelaysMs: backoff, maxAttempts: 2 });
      const group = mq.group(name);
      const mine = client(transport);
      const seen: string[] = [];
      for await (const message of mine.group(name).consume(name, { mode })) {
        seen.push(`${message.text()}${message.attempt} ${message.topic === name} ${message.offset}`);
        if (message.text() === "b") await message.deadLetter("bad");
        else if (seen.length < 4) await message.nack({ reason: "no stock" });
        else await message.ack();
        if (seen.length === 2) {
          await expect.poll(async () => (await collect(group.retries())).length, { timeout: 5_000 }).toBe(1);
        } else if (seen.length === 3) {
          await expect
            .poll(async () => (await collect(group.deadLetters())).length, { timeout: 5_000 })
            .toBe(2);
          expect(await group.redrive({ reason: "no stock", rate: 100 })).toBe(1);
        } else if (seen.length === 4) {
          break;
        }
      }
      expect(seen).toEqual(["a1 true 0", "b1 true 1", "a2 true 0", "a1 true 0"]);
      await mine.close();
      expect(await collect(group.deadLetters({ topic: name, from: new Date(0) }))).toMatchObject([
        { state: "dead", attempts: 1, reason: "bad" },
      ]);
      expect(await group.purge()).toBe(1);
      expect(await collect(group.deadLetters())).toEqual([]);
    },
  );

  test.each(both)("what was not finished comes again to another consumer over %s", async (transport) => {
    const name = await given(["a", "b"]);
    const first = client(transport);
    for await (const message of first.group(name).consume(name)) {
      if (message.text() === "a") await message.ack();
      else break;
    }
    await first.close();
    const second = client(transport);
    for await (const message of second.group(name).consume(name)) {
      expect(message.text()).toBe("b");
      await message.ack();
      break;
    }
    await second.close();
  });

  test.each(both)("shared over %s: receipts, extend, and what nobody took goes back", async (transport) => {
    const name = await given(["a", "b", "c"]);
    const one = client(transport);
    const options = { mode: "shared", invisibleMs: 60_000, prefetch: 10 } as const;
    for await (const message of one.group(name).consume(name, options)) {
      const before = message.deadline;
      await message.extend(120_000);
      expect(message.deadline?.getTime()).toBeGreaterThan(before?.getTime() ?? 0);
      await message.ack();
      break;
    }
    await one.close();
    const other = client(transport);
    const rest: (string | null)[] = [];
    for await (const message of other.group(name).consume(name, { mode: "shared" })) {
      rest.push(message.text());
      await message.ack();
      if (rest.length === 2) break;
    }
    expect(rest.toSorted()).toEqual(["b", "c"]);
    await other.close();
  });

  test.each(both)("broadcast over %s: every client gets every message", async (transport) => {
    const name = await given(["a", "b"], { mode: "broadcasting" });
    const clients = [client(transport), client(transport)];
    const got = await Promise.all(
      clients.map(async (mq, i) => {
        const texts: (string | null)[] = [];
        const options = { mode: "broadcast" as ConsumeMode, clientId: `c${i}` };
        for await (const message of mq.group(name).consume(name, options)) {
          texts.push(message.text());
          await message.ack();
          if (texts.length === 2) break;
        }
        return texts;
      }),
    );
    expect(got).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    await Promise.all(clients.map((mq) => mq.close()));
  });

  test("a group that there is not, and other subscriptions than the members have", async () => {
    const name = await given([]);
    const drain = async (group: string, tags: string): Promise<void> => {
      for await (const _ of mq.group(group).consume(name, { tags }));
    };
    await expect(drain("none", "a")).rejects.toHaveProperty("code", "group_not_found");
    const stop = new AbortController();
    const open = vi.fn();
    const consumer = mq.group(name).consume(name, { tags: "a", signal: stop.signal, onEvent: open });
    const running = consumer[Symbol.asyncIterator]().next();
    running.catch(() => {});
    await expect.poll(() => open.mock.calls.length).toBeGreaterThan(0);
    await expect(drain(name, "b")).rejects.toHaveProperty("code", "subscription_mismatch");
    stop.abort();
    await expect(running).rejects.toHaveProperty("name", "AbortError");
  });

  test.each(both)("a reset over %s: what waits for the program is dropped", async (transport) => {
    const name = await given(Array.from({ length: 10 }, (_, i) => `m${i}`));
    const mq = client(transport);
    const kinds: string[] = [];
    const consumer = mq.group(name).consume(name, { onEvent: ({ kind }) => void kinds.push(kind) });
    const messages = consumer[Symbol.asyncIterator]();
    const text = async (): Promise<string | null | undefined> => (await messages.next()).value?.text();
    for (const wanted of ["m0", "m1", "m2", "m3"]) {
      const { value } = await messages.next();
      expect(value?.text()).toBe(wanted);
      if (wanted !== "m3") await value?.ack();
      if (wanted === "m3") {
        kinds.length = 0;
        await mq.group(name).reset(name, { offset: 1 });
        await expect.poll(() => kinds, { timeout: 15_000 }).toContain("assigned");
        await expect(value?.ack()).rejects.toHaveProperty("code", "receipt_superseded");
      }
    }
    expect(await text()).toBe("m1");
    expect(await text()).toBe("m2");
    await consumer.close();
    await mq.close();
    expect(await offsetOf(name)).toBe(1);
  });

  test("over long poll a member stays one while the program is busy, and stores what is finished", async () => {
    const name = await given(["a", "b"], { sessionTimeoutMs: 6_000 });
    const mq = client("long-poll");
    const events: ConsumerEvent["kind"][] = [];
    const consumer = mq.group(name).consume(name, { onEvent: ({ kind }) => void events.push(kind) });
    const messages = consumer[Symbol.asyncIterator]();
    await (await messages.next()).value?.ack();
    const { value: second } = await messages.next();
    await new Promise((resolve) => setTimeout(resolve, 9_000)); // longer than its session may be silent
    expect((await mq.group(name).members()).items).toHaveLength(1);
    // The SDK says it every 5 s, and the gateway stores what it was told as often.
    await expect.poll(() => offsetOf(name), { timeout: 15_000 }).toBe(1);
    await second?.ack();
    await consumer.close();
    expect(events.filter((kind) => kind === "open")).toHaveLength(1);
    expect(await offsetOf(name)).toBe(2);
    await mq.close();
  });

  test("a receipt of mode shared is good when its socket is gone", async () => {
    const name = await given(["a"]);
    const mq = client("websocket");
    for await (const message of mq.group(name).consume(name, { mode: "shared" })) {
      setTimeout(() => void message.ack(), 50);
      break;
    }
    await expect.poll(() => offsetOf(name), { timeout: 10_000 }).toBe(1);
    await mq.close();
  });

  test("a reset and a stopped queue", async () => {
    const name = await given(["a", "b"]);
    const texts: (string | null)[] = [];
    const events: ConsumerEvent["kind"][] = [];
    const consumer = mq.group(name).consume(name, { onEvent: ({ kind }) => void events.push(kind) });
    const running = (async () => {
      for await (const message of consumer) {
        texts.push(message.text());
        await message.ack().catch(() => {}); // the reset may come first
      }
    })();
    await expect.poll(() => texts).toEqual(["a", "b"]);
    const dry = await mq.group(name).reset(name, { offset: 1 }, { dryRun: true });
    expect(dry).toMatchObject([{ newOffset: 1, newVersion: 2 }]);
    await mq.group(name).reset(name, "earliest");
    await expect.poll(() => texts, { timeout: 10_000 }).toEqual(["a", "b", "a", "b"]);
    await mq.group(name).setStopped(name, 0, true);
    await mq.topic(name).send("c");
    await expect.poll(() => events, { timeout: 10_000 }).toContain("stalled");
    expect(texts).toHaveLength(4);
    await mq.group(name).setStopped(name, 0, false);
    await expect.poll(() => texts, { timeout: 10_000 }).toHaveLength(5);
    await consumer.close();
    await running;
  });

  test("a server that restarts: the consumer goes on by itself", async () => {
    const name = await given(["a"], { resumeWindowMs: 60_000 });
    const texts: (string | null)[] = [];
    const consumer = mq.group(name).consume(name);
    const running = (async () => {
      for await (const message of consumer) {
        texts.push(message.text());
        await message.ack().catch(() => {});
      }
    })();
    await expect.poll(() => texts, { timeout: 10_000 }).toContain("a");
    await gateway.kill();
    await gateway.start();
    await mq.topic(name).send("b");
    await expect.poll(() => texts, { timeout: 30_000 }).toContain("b");
    await consumer.close();
    await running;
  });
});

describe("run", () => {
  test.each(both)(
    "handles several at a time over %s, gives back what fails, and drains",
    async (transport) => {
      const name = await given(
        Array.from({ length: 20 }, (_, i) => `m${i}`),
        { retryDelaysMs: [10] },
      );
      const mq = client(transport);
      let running = 0;
      let most = 0;
      const done: string[] = [];
      const failed: string[] = [];
      const worker = mq.group(name).run(
        name,
        async (message) => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running--;
          const text = message.text() ?? "";
          if (text === "m3" && message.attempt === 1) {
            failed.push(text);
            throw new Error("not yet");
          }
          done.push(text);
        },
        { concurrency: 4, onError: () => {} },
      );
      await expect.poll(() => done.length, { timeout: 30_000 }).toBe(20);
      await worker.stop();
      expect({ failed, most }).toEqual({ failed: ["m3"], most: 4 });
      expect(done.filter((text) => text === "m3")).toHaveLength(1);
      await expect.poll(() => offsetOf(name), { timeout: 10_000 }).toBe(20);
      await mq.close();
    },
  );

  const orders = both.flatMap((transport) =>
    [1, 4].flatMap((concurrency) =>
      (["group", "shared"] as const).map((mode) => ({ transport, concurrency, mode })),
    ),
  );
  test.each(orders)(
    "in order over $transport, $concurrency at a time, mode $mode: what is behind a failed message waits",
    async ({ transport, concurrency, mode }) => {
      const name = await given(["a", "b", "c", "d"], { ordered: true, retryDelaysMs: [100] });
      const mq = client(transport);
      const done: string[] = [];
      let failures = 0;
      const worker = mq.group(name).run(
        name,
        (message: Delivery) => {
          if (message.text() === "b" && failures++ < 2) throw new Error("not yet");
          done.push(message.text() ?? "");
        },
        { concurrency, mode, prefetch: 4, onError: () => {} },
      );
      await expect.poll(() => done, { timeout: 20_000 }).toEqual(["a", "b", "c", "d"]);
      await worker.stop();
      await expect.poll(() => offsetOf(name), { timeout: 10_000 }).toBe(4);
      await mq.close();
    },
  );

  test.each(["stop", "signal", "close"] as const)("%s lets the handlers that run finish", async (how) => {
    const name = await given(["a", "b", "c"]);
    const mq = client("websocket");
    const stop = new AbortController();
    const { promise: begun, resolve: begin } = deferred();
    const { promise: free, resolve: finish } = deferred();
    const done: (string | null)[] = [];
    const worker = mq.group(name).run(
      name,
      async (message) => {
        begin();
        await free;
        done.push(message.text());
      },
      { signal: stop.signal },
    );
    await begun;
    const ending = how === "stop" ? worker.stop() : how === "close" ? mq.close() : worker.done;
    ending.catch(() => {});
    if (how === "signal") stop.abort();
    setTimeout(finish, 100);
    if (how === "signal") await expect(ending).rejects.toHaveProperty("name", "AbortError");
    else await ending;
    expect(done).toEqual(["a"]);
    await expect.poll(() => offsetOf(name), { timeout: 10_000 }).toBe(1);
    await mq.close();
  });

  test.each(both)("live settings over %s: concurrency, tries and time", async (transport) => {
    const name = await given([]);
    const mq = client(transport);
    const kinds: string[] = [];
    let most = 0;
    let running = 0;
    const tries = new Map<string, number>();
    const worker = mq.group(name).run(
      name,
      async (message, { signal }) => {
        const text = message.text() ?? "";
        tries.set(text, (tries.get(text) ?? 0) + 1);
        if (text === "slow") {
          await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        }
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 20));
        running--;
        if (text === "bad" && (tries.get(text) ?? 0) < 3) throw new Error("not yet");
      },
      { onEvent: ({ kind }) => void kinds.push(kind), onError: () => {} },
    );
    await expect.poll(() => kinds, { timeout: 10_000 }).toContain("assigned");
    kinds.length = 0;
    await mq.group(name).setSettings(name, { concurrency: 3, retry_count: 5, timeout_ms: 100 });
    const wake = async (): Promise<string[]> => {
      if (transport === "long-poll") await mq.topic(name).send("wake"); // there they come with the next messages
      return kinds;
    };
    await expect.poll(wake, { timeout: 10_000, interval: 300 }).toContain("settings");
    await mq.topic(name).sendBatch(["x", "y", "z", "bad"].map((body) => ({ body })));
    await expect.poll(() => tries.get("bad"), { timeout: 10_000 }).toBe(3); // at once, not after a delay
    expect(most).toBeGreaterThan(1);
    await mq.topic(name).send("slow");
    await expect.poll(() => tries.get("slow"), { timeout: 10_000 }).toBe(6);
    await worker.stop();
    await mq.close();
  });

  test("shared: what takes longer than it is hidden is kept", async () => {
    const name = await given(["long"], { invisibleMs: 10_000 });
    let calls = 0;
    const worker = mq.group(name).run(
      name,
      async () => {
        calls++;
        await new Promise((resolve) => setTimeout(resolve, 12_500));
      },
      { mode: "shared" },
    );
    await expect.poll(() => offsetOf(name), { timeout: 25_000 }).toBe(1);
    expect(calls).toBe(1);
    await worker.stop();
  }, 40_000);
});
