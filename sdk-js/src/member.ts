import type { components } from "./api.gen.js";
import { Batch, progressOf } from "./batch.js";
import { type ConsumeArrival, type ConsumeWanted, liveSettings, ownedQueues } from "./consuming.js";
import { BucketMQError, canPass } from "./errors.js";
import { groupCall } from "./groups.js";
import type { Endpoint } from "./http.js";
import { holdMs } from "./pull.js";
import { link, sleep } from "./retry.js";

type Schemas = components["schemas"];

/** How long the end of a membership may take. */
const leaveWithinMs = 5_000;
/** How often a member that is busy looks for changes, and stores what is finished. */
const lookEveryMs = 5_000;
/** A look is not repeated sooner. */
const restMs = 1_000;

/** Consumes as a member of a group by requests that are held. */
export async function* poll(
  endpoint: Endpoint,
  wanted: ConsumeWanted,
): AsyncGenerator<ConsumeArrival, void, undefined> {
  const member = await Member.join(endpoint, wanted);
  let failed = false;
  try {
    yield* member.consume();
  } catch (error) {
    failed = !wanted.signal.aborted; // then it comes back as the same member
    throw error;
  } finally {
    if (!failed) await member.leave();
  }
}

/** One membership over long poll. */
class Member {
  readonly #endpoint: Endpoint;
  readonly #wanted: ConsumeWanted;
  readonly #path: string;
  readonly #id: string;
  readonly #ordered: boolean;
  readonly #delays: readonly number[];
  #generation: number;
  #queues: readonly Schemas["OwnedQueue"][] = [];
  #owned: readonly Schemas["OwnedQueue"][] = [];
  readonly #revoking: Set<string> = new Set();
  #batch: Batch;
  #settings: readonly Schemas["GroupSubscription"][] = [];
  #lookedAt = 0;
  /** What of the batch was stored. */
  #stored = "";

  static async join(endpoint: Endpoint, wanted: ConsumeWanted): Promise<Member> {
    const { group, mode, topics, clientId, sessionKey, signal } = wanted;
    const joined: Schemas["Membership"] = await groupCall(endpoint, "POST", `/${group}/members`, {
      body: { client_id: clientId, session_key: sessionKey, subscriptions: topics },
      safety: "read", // with the session key it is the same member
      signal,
    });
    if ((joined.kind === "broadcast") !== (mode === "broadcast")) {
      throw new BucketMQError("invalid_argument", `mode: the group is for ${joined.kind}`, {
        definite: true,
      });
    }
    const { retry }: Schemas["Group"] = await groupCall(endpoint, "GET", `/${group}`, {
      safety: "read",
      signal,
    });
    return new Member(endpoint, wanted, joined, retry.delays_ms ?? []);
  }

  private constructor(
    endpoint: Endpoint,
    wanted: ConsumeWanted,
    joined: Schemas["Membership"],
    delays: readonly number[],
  ) {
    this.#endpoint = endpoint;
    this.#wanted = wanted;
    this.#id = joined.member_id;
    this.#path = `/${wanted.group}/members/${joined.member_id}`;
    this.#ordered = joined.ordered || wanted.ordered;
    this.#delays = delays;
    this.#generation = joined.generation;
    this.#batch = this.#batchOf([]);
    const { reached } = wanted;
    if (reached.member !== joined.member_id) delete reached.cursor;
    reached.member = joined.member_id;
    wanted.tell({
      kind: "open",
      transport: "http",
      recovered: joined.reattached,
      ordered: this.#ordered,
    });
    this.#adopt(joined.settings);
    this.#own([...joined.assignments, ...joined.revoking]);
  }

  async *consume(): AsyncGenerator<ConsumeArrival, void, undefined> {
    const { reached, signal } = this.#wanted;
    for (;;) {
      while (this.#owned.length === 0) await this.#look(holdMs, signal); // a poll does not tell of queues without messages
      const answer = await this.#poll();
      this.#generation = answer.generation;
      this.#batch = this.#batchOf(answer.messages);
      this.#queues = answer.queues;
      this.#own(answer.queues);
      this.#stored = "";
      for (const gap of answer.gaps) yield { kind: "gap", gap };
      if (answer.messages.length > 0) {
        if (Date.now() - this.#lookedAt >= restMs) await this.#look(0, signal);
        yield* this.#deliver(this.#batch);
      }
      reached.cursor = answer.cursor; // all that it covers is finished
    }
  }

  async #poll(): Promise<Schemas["PollResult"]> {
    const { prefetch, reached, signal } = this.#wanted;
    const batches = this.#settings.flatMap(({ pull_batch: batch }) => (batch > 0 ? [batch] : []));
    return groupCall(this.#endpoint, "POST", `${this.#path}/poll`, {
      body: {
        ...(reached.cursor === undefined ? {} : { cursor: reached.cursor }),
        max_messages: Math.min(prefetch, ...batches),
        wait_ms: holdMs,
      },
      safety: "read", // repeated with the same cursor it repeats the messages
      signal,
      timeoutMs: this.#endpoint.timeoutMs + holdMs,
    });
  }

  #batchOf(items: Schemas["PollResult"]["messages"]): Batch {
    return new Batch(items, { delays: this.#delays, ordered: this.#ordered });
  }

  /** Delivers until everything is finished. Meanwhile the member is kept alive, however long the program takes. */
  async *#deliver(batch: Batch): AsyncGenerator<ConsumeArrival, void, undefined> {
    const until = link(this.#wanted.signal);
    const keeping = this.#keep(batch, until.signal);
    try {
      while (!batch.finished) {
        const wire = batch.take();
        if (wire) yield { kind: "message", wire, settler: batch };
        else await batch.changed(this.#wanted.signal);
      }
    } finally {
      until.abort(new BucketMQError("closed", "the batch is over"));
      until.release();
      await keeping;
    }
  }

  /** Looks for changes, and stores what is finished of a batch. */
  async #keep(batch: Batch, signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await sleep(restMs, signal); // most batches are finished before
        await this.#look(lookEveryMs, signal);
        await this.#store(batch, signal);
      }
    } catch (error) {
      if (!signal.aborted) batch.fail(error);
    }
  }

  /** A heartbeat: tells of what changed, and drops what is not the member's any more. */
  async #look(waitMs: number, signal: AbortSignal): Promise<void> {
    let now: Schemas["HeartbeatResult"];
    try {
      now = await groupCall(this.#endpoint, "POST", `${this.#path}/heartbeat`, {
        body: { generation: this.#generation, wait_ms: waitMs },
        safety: "read",
        signal,
        timeoutMs: this.#endpoint.timeoutMs + waitMs,
      });
    } catch (error) {
      if (signal.aborted || !(error instanceof BucketMQError) || !canPass(error)) throw error;
      await sleep(restMs, signal);
      return; // the next look tells
    }
    this.#lookedAt = Date.now();
    this.#generation = now.generation;
    this.#own([...now.assignments, ...now.revoking]);
    for (const queue of now.revoking) this.#tellRevoking(queue);
    this.#adopt(now.settings);
  }

  /** Stores what is finished of a batch, so that little comes again if the program ends. */
  async #store(batch: Batch, signal: AbortSignal): Promise<void> {
    const offsets = progressOf(this.#queues, batch);
    const state = JSON.stringify(offsets);
    if (state === this.#stored || offsets.length === 0) return;
    try {
      await this.#commit(this.#endpoint, offsets, false, signal);
      this.#stored = state;
    } catch {
      // the next poll stores it, or it comes again
    }
  }

  async #commit(
    endpoint: Endpoint,
    offsets: Schemas["OffsetCommit"][],
    sync: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const body = { member_id: this.#id, sync, offsets };
    await groupCall(endpoint, "PUT", `/${this.#wanted.group}/offsets`, { body, safety: "read", signal });
  }

  /** Compares the queues with those before. */
  #own(queues: readonly Schemas["OwnedQueue"][]): void {
    const now = new Map(queues.map((q) => [placeOf(q), q]));
    const before = new Map(this.#owned.map((q) => [placeOf(q), q]));
    this.#owned = queues;
    const revoked = [...before].flatMap(([place, q]) => (now.has(place) ? [] : [q]));
    const assigned = [...now].flatMap(([place, q]) => (before.has(place) ? [] : [q]));
    if (revoked.length + assigned.length === 0) return;
    this.#revoking.clear();
    const own = new Set(now.keys());
    const polled = new Map(this.#queues.map((q) => [`${q.topic}/${q.queue}`, placeOf(q)]));
    this.#batch.keep((topic, queue) => {
      const place = polled.get(`${topic}/${queue}`);
      return place === undefined || own.has(place);
    });
    const held = new Set(queues.map((q) => `${q.topic}/${q.queue}`)); // a reset is no loss
    const lost = revoked.filter((q) => !held.has(`${q.topic}/${q.queue}`));
    if (lost.length > 0) this.#wanted.tell({ kind: "revoked", queues: ownedQueues(lost) });
    if (assigned.length > 0) this.#wanted.tell({ kind: "assigned", queues: ownedQueues(assigned) });
  }

  #tellRevoking(queue: Schemas["OwnedQueue"]): void {
    const place = placeOf(queue);
    if (this.#revoking.has(place)) return;
    this.#revoking.add(place);
    this.#wanted.tell({ kind: "revoking", queues: ownedQueues([queue]) });
  }

  #adopt(settings: readonly Schemas["GroupSubscription"][]): void {
    const changed = JSON.stringify(settings) !== JSON.stringify(this.#settings);
    this.#settings = settings;
    if (changed) this.#wanted.tell(liveSettings(settings));
  }

  /** Commits what is finished, and leaves. What cannot be said comes again. */
  async leave(): Promise<void> {
    const signal = AbortSignal.timeout(leaveWithinMs);
    const once = { ...this.#endpoint, retry: { ...this.#endpoint.retry, attempts: 1 } };
    this.#batch.fail(new BucketMQError("closed", "the consumer has left the group", { definite: true }));
    try {
      const offsets = progressOf(this.#queues, this.#batch);
      if (offsets.length > 0) await this.#commit(once, offsets, true, signal);
    } catch {
      // it comes again
    }
    try {
      await groupCall(once, "DELETE", this.#path, { safety: "read", signal });
    } catch {
      // it expires
    }
  }
}

/** A queue, since when it is the member's, and the version of its offset. */
function placeOf(q: Schemas["OwnedQueue"]): string {
  return `${q.topic}/${q.queue}/${q.assignment_epoch}/${q.version}`;
}
