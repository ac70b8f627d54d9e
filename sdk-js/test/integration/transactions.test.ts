import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { type Client, connect, type TransactionInfo } from "../../src/index.js";
import { Gateway } from "./gateway.js";

let gateway: Gateway;
let mq: Client;

beforeAll(async () => {
  gateway = await Gateway.start();
  mq = connect(gateway.url, { WebSocket });
  await mq.topics.put("deals", { type: "transaction", queues: 1 });
  await mq.topics.put("stock", { type: "mixed", queues: 1 });
});

afterAll(async () => {
  await mq?.close();
  await gateway?.[Symbol.asyncDispose]();
});

async function bodies(topic: string): Promise<(string | null)[]> {
  const all: (string | null)[] = [];
  for await (const message of mq.topic(topic).read(0, { from: "earliest" })) all.push(message.text());
  return all;
}

const of = (body: string): Record<string, { readonly body: string }[]> => ({
  deals: [{ body }],
  stock: [{ body }],
});

describe("Transactions", () => {
  test("are readable in every topic once committed, and never when rolled back", async () => {
    const deals = mq.transactions("sellers");
    const committed = await deals.begin(of("committed"), { reference: "r1" });
    const rolled = await deals.begin(of("rolled"));
    expect(await bodies("deals")).toEqual([]);
    expect((await deals.messages(rolled.id)).map(({ topic, body }) => [topic, body])).toEqual([
      ["deals", "rolled"],
      ["stock", "rolled"],
    ]);
    const info = await committed.commit();
    expect(info).toMatchObject({ state: "committed", readable: true, reference: "r1" });
    expect(info.places).toMatchObject([
      { topic: "deals", queue: 0, offset: 0 },
      { topic: "stock", queue: 0, offset: 0 },
    ]);
    await rolled.rollback();
    await expect(rolled.commit()).rejects.toMatchObject({ code: "transaction_decided" });
    expect(await bodies("deals")).toEqual(["committed"]);
    expect(await bodies("stock")).toEqual(["committed"]);
    expect((await deals.get(rolled.id)).state).toBe("rolled_back");
    const states: string[] = [];
    for await (const { state } of deals.list()) states.push(state);
    expect(states).toEqual(["committed", "rolled_back"]);
  });

  test.each(["websocket", "long-poll"] as const)(
    "what is forgotten is checked over %s, also after a restart of the server",
    async (transport) => {
      const client = connect(gateway.url, { WebSocket, transports: [transport] });
      const group = `checked-${transport}`;
      const tx = await client
        .transactions(group)
        .begin(of(group), { reference: "forgotten", checkAfterMs: 1 });
      await gateway.kill();
      await gateway.start();
      const asked: TransactionInfo[] = [];
      const checker = client.transactions(group).check((info) => {
        asked.push(info);
        return info.reference === "forgotten" ? "commit" : "rollback";
      });
      await vi.waitFor(
        async () => expect((await client.transactions(group).get(tx.id)).state).toBe("committed"),
        { timeout: 15_000 },
      );
      await checker.stop();
      await client.close();
      expect(asked.map(({ id, checks }) => [id, checks])).toEqual([[tx.id, 1]]);
      await vi.waitFor(async () => expect(await bodies("deals")).toContain(group), { timeout: 15_000 });
    },
    40_000,
  );
});
