import type { components } from "./api.gen.js";
import {
  type ConsumeArrival,
  type ConsumeSource,
  type ConsumeWanted,
  liveSettings,
  ownedQueues,
} from "./consuming.js";
import type { Settler } from "./delivery.js";
import { BucketMQError, invalidArgument } from "./errors.js";
import { groupCall } from "./groups.js";
import type { Endpoint } from "./http.js";
import type { WireMessage } from "./message.js";
import { holdMs } from "./pull.js";
import { sleep } from "./retry.js";

type Schemas = components["schemas"];

/** How long the end of a membership may take. */
const leaveWithinMs = 5_000;
const receiveMost = 32;

/** Consumes by requests that are held until there is something. */
export function httpSource(endpoint: Endpoint): ConsumeSource {
  return (wanted) => (wanted.mode === "shared" ? receive(endpoint, wanted) : poll(endpoint, wanted));
}

/** Finishes messages of mode shared, through any gateway. */
export function receiptSettler(endpoint: Endpoint, group: string, signal: AbortSignal): Settler {
  const settle = async (call: string, body: unknown): Promise<Schemas["ReceiptResults"]> =>
    groupCall(endpoint, "POST", `/${group}/${call}`, { body, safety: "read", signal });
  return {
    ack: async (wire) => {
      await settle("ack", { receipts: [wire.receipt] });
    },
    nack: async (wire, delayMs) => {
      await settle("nack", {
        items: [{ receipt: wire.receipt, ...(delayMs === undefined ? {} : { delay_ms: delayMs }) }],
      });
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

async function* receive(endpoint: Endpoint, wanted: ConsumeWanted): AsyncGenerator<ConsumeArrival> {
  const { group, topics, invisibleMs, prefetch, signal } = wanted;
  const settler = receiptSettler(endpoint, group, signal);
  for (let first = true; ; first = false) {
    const answer: Schemas["ReceiveResult"] = await groupCall(endpoint, "POST", `/${group}/receive`, {
      body: {
        topics,
        max_messages: Math.min(prefetch, receiveMost),
        wait_ms: first ? 0 : holdMs,
        ...(invisibleMs === undefined ? {} : { invisible_ms: invisibleMs }),
      },
      safety: "read", // a lost answer comes again when its time is over
      signal,
      timeoutMs: endpoint.timeoutMs + holdMs,
    });
    if (first)
      yield { kind: "event", event: { kind: "open", transport: "http", recovered: true, ordered: false } };
    for (const gap of answer.gaps) yield { kind: "gap", gap };
    if (answer.messages.length > 0) yield { kind: "messages", items: answer.messages, settler };
  }
}

/** The messages of one poll until all are finished. */
class Batch implements Settler {
  readonly #open: Map<string, WireMessage>;
  /** What the group says of the wait after each attempt; the last one repeats. */
  readonly #delays: readonly number[];
  readonly #again: { readonly at: number; readonly wire: WireMessage }[] = [];
  #wake: () => void = () => {};

  constructor(items: readonly WireMessage[], delays: readonly number[] = []) {
    this.#delays = delays;
    this.#open = new Map(items.map((wire) => [keyOf(wire), wire]));
  }

  get finished(): boolean {
    return this.#open.size === 0;
  }

  /** The smallest offset of a queue that is not finished. */
  unfinished(topic: string, queue: number): number | undefined {
    let least: number | undefined;
    for (const wire of this.#open.values()) {
      if (wire.topic === topic && wire.queue === queue) least = Math.min(least ?? wire.offset, wire.offset);
    }
    return least;
  }

  async ack(wire: WireMessage): Promise<void> {
    this.#open.delete(keyOf(wire));
    this.#wake();
  }

  async nack(wire: WireMessage, given: number | undefined): Promise<void> {
    if (!this.#open.has(keyOf(wire))) return;
    const attempt = Math.min(wire.attempt ?? 1, this.#delays.length);
    const delayMs = given ?? this.#delays[attempt - 1] ?? 0;
    if (!(delayMs >= 0)) throw invalidArgument("delayMs: from 0");
    this.#again.push({ at: Date.now() + delayMs, wire: { ...wire, attempt: (wire.attempt ?? 1) + 1 } });
    this.#again.sort((a, b) => a.at - b.at);
    this.#wake();
  }

  async extend(): Promise<undefined> {}

  /** What is due again, after waiting for something to change for at most `ms`. */
  async next(ms: number, signal: AbortSignal): Promise<WireMessage[]> {
    const due = this.#again[0]?.at ?? Number.POSITIVE_INFINITY;
    const changed = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const wait = Math.min(ms, due - Date.now());
    if (wait > 0 && !this.finished) await Promise.race([changed, sleep(wait, signal)]);
    signal.throwIfAborted();
    const items: WireMessage[] = [];
    while (this.#again[0] && this.#again[0].at <= Date.now()) {
      const [again] = this.#again.splice(0, 1);
      if (again && this.#open.has(keyOf(again.wire))) items.push(again.wire);
    }
    return items;
  }
}

function keyOf({ topic, queue, offset }: WireMessage): string {
  return `${topic}/${queue}/${offset}`;
}

async function* poll(endpoint: Endpoint, wanted: ConsumeWanted): AsyncGenerator<ConsumeArrival> {
  const { group, mode, topics, clientId, sessionKey, prefetch, signal } = wanted;
  const member: Schemas["Membership"] = await groupCall(endpoint, "POST", `/${group}/members`, {
    body: { client_id: clientId, session_key: sessionKey, subscriptions: topics },
    safety: "read", // with the session key it is the same member
    signal,
  });
  if ((member.kind === "broadcast") !== (mode === "broadcast")) {
    throw new BucketMQError("invalid_argument", `mode: the group is for ${member.kind}`, { definite: true });
  }
  const { retry }: Schemas["Group"] = await groupCall(endpoint, "GET", `/${group}`, {
    safety: "read",
    signal,
  });
  const path = `/${group}/members/${member.member_id}`;
  let batch = new Batch([]);
  let queues: readonly Schemas["OwnedQueue"][] = [];
  try {
    const { reattached: recovered, ordered } = member;
    yield {
      kind: "event",
      event: { kind: "open", transport: "http", recovered, ordered: ordered || wanted.ordered },
    };
    yield { kind: "event", event: liveSettings(member.settings) };
    for (let cursor: string | undefined; ; ) {
      const answer: Schemas["PollResult"] = await groupCall(endpoint, "POST", `${path}/poll`, {
        body: { ...(cursor === undefined ? {} : { cursor }), max_messages: prefetch, wait_ms: holdMs },
        safety: "read", // repeated with the same cursor it repeats the messages
        signal,
        timeoutMs: endpoint.timeoutMs + holdMs,
      });
      cursor = answer.cursor;
      if (placesOf(queues) !== placesOf(answer.queues)) {
        yield { kind: "event", event: { kind: "assigned", queues: ownedQueues(answer.queues) } };
      }
      queues = answer.queues;
      for (const gap of answer.gaps) yield { kind: "gap", gap };
      if (answer.messages.length === 0) continue;
      batch = new Batch(answer.messages, retry.delays_ms);
      yield { kind: "messages", items: answer.messages, settler: batch };
      while (!batch.finished) {
        const items = await batch.next(member.heartbeat_ms, signal);
        if (items.length > 0) yield { kind: "messages", items, settler: batch };
        else if (!batch.finished) await beat(endpoint, path, answer.generation, signal);
      }
    }
  } finally {
    await leave(endpoint, path, group, member.member_id, queues, batch);
  }
}

async function beat(
  endpoint: Endpoint,
  path: string,
  generation: number,
  signal: AbortSignal,
): Promise<void> {
  await groupCall(endpoint, "POST", `${path}/heartbeat`, { body: { generation }, safety: "read", signal });
}

/** Commits what is finished, and leaves. What cannot be said comes again. */
async function leave(
  endpoint: Endpoint,
  path: string,
  group: string,
  member: string,
  queues: readonly Schemas["OwnedQueue"][],
  batch: Batch,
): Promise<void> {
  const signal = AbortSignal.timeout(leaveWithinMs);
  const once = { ...endpoint, retry: { ...endpoint.retry, attempts: 1 } };
  try {
    const offsets = queues.map((q) => ({
      topic: q.topic,
      queue: q.queue,
      offset: batch.unfinished(q.topic, q.queue) ?? q.offset,
      version: q.version,
      assignment_epoch: q.assignment_epoch,
    }));
    if (offsets.length > 0) {
      const body = { member_id: member, sync: true, offsets };
      await groupCall(once, "PUT", `/${group}/offsets`, { body, safety: "read", signal });
    }
  } catch {
    // it comes again
  }
  try {
    await groupCall(once, "DELETE", path, { safety: "read", signal });
  } catch {
    // it expires
  }
}

function placesOf(queues: readonly Schemas["OwnedQueue"][]): string {
  return queues.map(({ topic, queue, assignment_epoch }) => `${topic}/${queue}/${assignment_epoch}`).join();
}
