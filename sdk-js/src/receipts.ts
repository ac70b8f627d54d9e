import type { components } from "./api.gen.js";
import { isBehind } from "./backlog.js";
import type { ConsumeArrival, ConsumeWanted } from "./consuming.js";
import { nackItem, type Settler } from "./delivery.js";
import { groupCall } from "./groups.js";
import type { Endpoint } from "./http.js";
import type { WireMessage } from "./message.js";
import { randomKey } from "./publish.js";
import { holdMs } from "./pull.js";

type Schemas = components["schemas"];

const receiveMost = 32;
/** How long giving back at the end may take. */
const leaveWithinMs = 5_000;

/** Finishes messages of mode shared, through any gateway. */
export function receiptSettler(endpoint: Endpoint, group: string, signal: AbortSignal): Settler {
  const settle = async (call: string, body: unknown): Promise<Schemas["ReceiptResults"]> =>
    groupCall(endpoint, "POST", `/${group}/${call}`, { body, safety: "read", signal });
  return {
    ack: async (wire) => {
      await settle("ack", { receipts: [wire.receipt] });
    },
    nack: async (wire, options) => {
      await settle("nack", { items: [nackItem(wire, options)] });
    },
    extend: async (wire, invisibleMs) => {
      const item = {
        receipt: wire.receipt,
        ...(invisibleMs === undefined ? {} : { invisible_ms: invisibleMs }),
      };
      const { results } = await settle("extend", { items: [item] });
      const deadline = results[0]?.deadline;
      return deadline === undefined ? undefined : new Date(deadline);
    },
  };
}

/** Whether the group hands out the messages of a queue in order. */
export async function isOrdered(endpoint: Endpoint, { group, signal }: ConsumeWanted): Promise<boolean> {
  const { ordered }: Schemas["Group"] = await groupCall(endpoint, "GET", `/${group}`, {
    safety: "read",
    signal,
  });
  return ordered;
}

/** Receives messages of any queue of a group by requests that are held. */
export async function* receive(
  endpoint: Endpoint,
  wanted: ConsumeWanted,
): AsyncGenerator<ConsumeArrival, void, undefined> {
  const { group, topics, invisibleMs, prefetch, signal } = wanted;
  const ordered = await isOrdered(endpoint, wanted);
  let untaken: readonly WireMessage[] = [];
  const plain = receiptSettler(endpoint, group, new AbortController().signal);
  const settler: Settler = {
    ...plain,
    nack: async (wire, options) => {
      // Where order counts, those behind it wait for it.
      const behind = ordered ? untaken.filter((other) => isBehind(other, wire)) : [];
      untaken = untaken.filter((other) => !behind.includes(other));
      await Promise.all([plain.nack(wire, options), giveBack(endpoint, group, behind)]);
    },
  };
  try {
    for (let first = true; ; first = false) {
      const answer: Schemas["ReceiveResult"] = await groupCall(endpoint, "POST", `/${group}/receive`, {
        body: {
          topics,
          max_messages: Math.min(prefetch, receiveMost),
          wait_ms: first ? 0 : holdMs,
          ...(invisibleMs === undefined ? {} : { invisible_ms: invisibleMs }),
          ...(ordered ? { attempt_id: randomKey() } : {}), // a lost answer is repeated
        },
        safety: "read", // a lost answer comes again when its time is over
        signal,
        timeoutMs: endpoint.timeoutMs + holdMs,
      });
      if (first) wanted.tell({ kind: "open", transport: "http", recovered: true, ordered });
      for (const gap of answer.gaps) yield { kind: "gap", gap };
      untaken = answer.messages;
      for (let [wire] = untaken; wire; [wire] = untaken) {
        untaken = untaken.slice(1);
        yield { kind: "message", wire, settler };
      }
    }
  } finally {
    await giveBack(endpoint, group, untaken);
  }
}

/** Lets others have messages that nobody took. */
export async function giveBack(
  endpoint: Endpoint,
  group: string,
  untaken: readonly WireMessage[],
): Promise<void> {
  if (untaken.length === 0) return;
  const once = { ...endpoint, retry: { ...endpoint.retry, attempts: 1 } };
  const body = { items: untaken.map(({ receipt }) => ({ receipt, unhandled: true })) };
  const signal = AbortSignal.timeout(leaveWithinMs);
  try {
    await groupCall(once, "POST", `/${group}/nack`, { body, safety: "read", signal });
  } catch {
    // they come again when their time is over
  }
}
