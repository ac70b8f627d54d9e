import type { components } from "./api.gen.js";
import { BucketMQError } from "./errors.js";
import { type Endpoint, request } from "./http.js";
import { holdMs, readPage, type Start, startQuery } from "./pull.js";
import type { Arrival, Transport, Wanted } from "./transport.js";

type Schemas = components["schemas"];

/** How long one of several queues is held; the others are looked at in between. */
const sharedHoldMs = 1_000;
const pageLimit = 1000;

/** The offset of every queue at a start. */
export async function findOffsets(
  endpoint: Endpoint,
  topic: string,
  from: Start,
  signal: AbortSignal,
): Promise<Schemas["OffsetList"]> {
  const { body } = await request<Schemas["OffsetList"]>(endpoint, {
    method: "GET",
    path: `v1/topics/${topic}/offsets`,
    query: startQuery(from),
    safety: "read",
    signal,
  });
  return body;
}

/** Follows a topic by reads that are held until there is something, one at a time. */
export function pollTransport(endpoint: Endpoint): Transport {
  return async function* (wanted) {
    const { position } = wanted;
    for (let turn = 0; ; turn++) {
      const ends = await findOffsets(endpoint, wanted.topic, "latest", wanted.signal);
      if (turn === 0) yield { kind: "open" };
      else yield { kind: "alive" };
      yield* meetNewQueues(endpoint, wanted, ends);
      yield* meetEpoch(wanted, ends);
      const queues = ends.items.filter(({ queue }) => wanted.queues?.includes(queue) ?? true);
      const news = queues.filter(({ queue, offset }) => offset !== position.next(queue));
      for (const { queue } of news) yield* read(endpoint, wanted, queue, 0);
      const idle = queues[turn % queues.length];
      if (news.length === 0 && idle)
        yield* read(endpoint, wanted, idle.queue, queues.length > 1 ? sharedHoldMs : holdMs);
      else if (!idle)
        throw new BucketMQError("queue_not_found", "the topic has none of the queues", { definite: true });
    }
  };
}

/** Begins queues that the position does not know, and that are newer, at their start. */
async function* meetNewQueues(
  endpoint: Endpoint,
  wanted: Wanted,
  ends: Schemas["OffsetList"],
): AsyncGenerator<Arrival> {
  const known = new Set(wanted.position.queues());
  if (ends.items.every(({ queue }) => known.has(queue) || wanted.queues !== undefined)) return;
  const starts = await findOffsets(endpoint, wanted.topic, "earliest", wanted.signal);
  for (const { queue, offset } of starts.items)
    if (!known.has(queue)) yield { kind: "skip", queue, to: offset };
}

/** Announces that offsets were given anew, for every queue. */
export function* meetEpoch(wanted: Wanted, ends: Schemas["OffsetList"]): Generator<Arrival> {
  const { position } = wanted;
  if (position.epoch !== undefined && position.epoch !== ends.epoch) {
    for (const { queue, offset } of ends.items) {
      if (!position.queues().includes(queue)) continue;
      const from = position.next(queue);
      yield { kind: "gap", gap: { queue, from, to: Math.min(from, offset), reason: "epoch_changed" } };
    }
  }
  position.epoch = ends.epoch;
}

async function* read(
  endpoint: Endpoint,
  wanted: Wanted,
  queue: number,
  waitMs: number,
): AsyncGenerator<Arrival> {
  const { topic, tags, sql, position, signal } = wanted;
  const from = position.next(queue);
  try {
    const { epoch } = position;
    const page = await readPage(endpoint, {
      topic,
      queue,
      from,
      limit: pageLimit,
      tags,
      sql,
      epoch,
      waitMs,
      signal,
    });
    if (page.messages.length > 0) yield { kind: "messages", items: page.messages };
    yield { kind: "skip", queue, to: page.next_offset };
  } catch (error) {
    if (!(error instanceof BucketMQError) || error.code === "gap") throw error;
    if (error.code === "epoch_changed") return; // the next look at the ends announces it
    const gap = gapOf(error, queue, from);
    if (!gap) throw error;
    yield { kind: "gap", gap };
  }
}

function gapOf(error: BucketMQError, queue: number, from: number): Schemas["Gap"] | undefined {
  const [bounds] = error.items;
  const trimmed = error.code === "offset_trimmed";
  const to = trimmed ? bounds?.min_offset : bounds?.next_offset;
  const reason = trimmed ? "trimmed" : error.code === "data_corrupt" ? "corrupt" : "beyond_end";
  if (to === undefined || (reason === "beyond_end" && error.code !== "offset_beyond_end")) return undefined;
  return { queue, from, to, reason };
}
