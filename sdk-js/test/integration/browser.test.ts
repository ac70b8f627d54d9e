import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page as Tab } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type * as SDK from "../../src/index.js";
import { Gateway } from "./gateway.js";
import { Page } from "./page.js";

const executablePath = process.env["CHROMIUM_BIN"] ?? "/usr/bin/chromium";

let page: Page;
let gateway: Gateway;
let profile: string;
let browser: BrowserContext;

beforeAll(async () => {
  await access(executablePath).catch(() => {
    throw new Error(`no browser at ${executablePath}: install the package chromium, or set CHROMIUM_BIN`);
  });
  page = await Page.start();
  gateway = await Gateway.start("--allowed-origin", page.url);
  profile = await mkdtemp(join(tmpdir(), "bucketmq-chromium-"));
  browser = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
});

afterAll(async () => {
  await browser?.close();
  await gateway?.[Symbol.asyncDispose]();
  await page?.[Symbol.asyncDispose]();
  if (profile) await rm(profile, { recursive: true, force: true });
});

async function open(address: string = page.url): Promise<Tab> {
  const tab = await browser.newPage();
  await tab.goto(`${address}/`);
  await tab.waitForFunction(() => Reflect.has(globalThis, "sdk"));
  return tab;
}

/** What runs in the page: tails a topic, sends to it, and says what came and how. */
async function roundTrip(given: {
  readonly server: string;
  readonly topic: string;
  readonly transports: readonly SDK.TransportName[];
  readonly withoutWebSocket: boolean;
}): Promise<{ readonly transport: string; readonly texts: (string | null)[]; readonly sent: number }> {
  if (given.withoutWebSocket) Reflect.deleteProperty(globalThis, "WebSocket");
  const { connect } = Reflect.get(globalThis, "sdk") as typeof SDK;
  const mq = connect(given.server, { transports: given.transports, token: "not asked for" });
  await mq.topics.put(given.topic, { queues: 3 });
  let transport = "none";
  let opened: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const tail = mq.topic(given.topic).tail({
    onState: (state) => {
      if (state.state !== "open") return;
      transport = state.transport;
      opened();
    },
  });
  const texts: (string | null)[] = [];
  const reading = (async () => {
    for await (const message of tail) {
      texts.push(message.text());
      if (texts.length === 4) break;
    }
  })();
  await Promise.race([ready, reading]);
  const topic = mq.topic(given.topic);
  const results = [
    await topic.send("hé"),
    await topic.send({ a: 1 }, { tag: "paid" }),
    await topic.send(null),
    await topic.send(new TextEncoder().encode("bytes")),
  ];
  await reading;
  await mq.close();
  return {
    transport,
    texts,
    sent: results.filter((result) => result.offset >= 0 && result.messageId !== "").length,
  };
}

const all = ["websocket", "sse", "long-poll"] as const;
const want = { texts: ["hé", '{"a":1}', null, "bytes"].map(String).sort(), sent: 4 };

describe("A page of another origin that the server allows", () => {
  test.each([
    { name: "WebSocket", transports: all, withoutWebSocket: false, transport: "websocket" },
    {
      name: "server-sent events without WebSocket",
      transports: all,
      withoutWebSocket: true,
      transport: "sse",
    },
    { name: "long poll", transports: ["long-poll"] as const, withoutWebSocket: true, transport: "long-poll" },
  ])("sends and tails over $name", async ({ transports, withoutWebSocket, transport }) => {
    const tab = await open();
    const given = { server: gateway.url, topic: `page-${transport}`, transports, withoutWebSocket };
    const got = await tab.evaluate(roundTrip, given);
    expect({ ...got, texts: got.texts.map(String).sort() }).toEqual({ ...want, transport });
    await tab.close();
  });

  test("consumes for a group", async () => {
    const tab = await open();
    const got = await tab.evaluate(async (server) => {
      const { connect } = Reflect.get(globalThis, "sdk") as typeof SDK;
      const mq = connect(server);
      await mq.topics.put("paged", { queues: 2 });
      await mq.groups.put("paged", { consumeFrom: "first" });
      await mq.topic("paged").sendBatch([{ body: "a" }, { body: "b" }]);
      const transports: string[] = [];
      const texts: (string | null)[] = [];
      const onEvent = (event: SDK.ConsumerEvent): void => {
        if (event.kind === "open") transports.push(event.transport);
      };
      for await (const message of mq.group("paged").consume("paged", { onEvent })) {
        texts.push(message.text());
        await message.ack();
        if (texts.length === 2) break;
      }
      await mq.close();
      return { transports, texts: texts.map(String).sort() };
    }, gateway.url);
    expect(got).toEqual({ transports: ["websocket"], texts: ["a", "b"] });
    await tab.close();
  });

  test("a server that restarts: the page's tail goes on by itself", async () => {
    const tab = await open();
    await tab.evaluate(async (server) => {
      const { connect } = Reflect.get(globalThis, "sdk") as typeof SDK;
      const mq = connect(server);
      const seen: (string | null)[] = [];
      const states: string[] = [];
      Object.assign(globalThis, { mq, seen, states });
      await mq.topics.put("restart");
      const tail = mq.topic("restart").tail({ onState: (state) => void states.push(state.state) });
      void (async () => {
        for await (const message of tail) seen.push(message.text());
      })();
    }, gateway.url);
    const look = (name: string): Promise<unknown> =>
      tab.evaluate((key) => Reflect.get(globalThis, key), name);
    const send = (body: string): Promise<unknown> =>
      tab.evaluate((text) => (Reflect.get(globalThis, "mq") as SDK.Client).topic("restart").send(text), body);
    await expect.poll(() => look("states"), { timeout: 20_000 }).toContain("open");
    await send("before");
    await expect.poll(() => look("seen"), { timeout: 20_000 }).toEqual(["before"]);
    await gateway.kill();
    const sent = send("meanwhile"); // repeated until the server is back
    await gateway.start();
    await sent;
    await send("after");
    await expect
      .poll(async () => ((await look("seen")) as string[]).toSorted(), { timeout: 30_000 })
      .toEqual(["after", "before", "meanwhile"]);
    await tab.close();
  });
});

test("a page of an origin that is not allowed gets nothing", async () => {
  await using foreign = await Page.start();
  const tab = await open(foreign.url);
  const code = await tab.evaluate(async (server) => {
    const { connect } = Reflect.get(globalThis, "sdk") as typeof SDK;
    const mq = connect(server, { retry: { attempts: 1 } });
    return mq
      .topic("orders")
      .send("x")
      .then(
        () => "stored",
        (error: SDK.BucketMQError) => error.code,
      );
  }, gateway.url);
  expect(code).toBe("outcome_unknown"); // the browser does not say more
  await tab.close();
});
