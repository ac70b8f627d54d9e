import type { components } from "./api.gen.js";
import { bodyBytes } from "./bytes.js";
import { type ConsumeWanted, liveSettings, ownedQueues } from "./consuming.js";
import { BucketMQError } from "./errors.js";
import { Inbox } from "./inbox.js";
import type { WireMessage } from "./message.js";
import type { ServerOp } from "./wire.js";

type Schemas = components["schemas"];

/** What waits for the program, in order. */
export type Waiting =
  | { readonly kind: "message"; readonly wire: WireMessage }
  | { readonly kind: "gap"; readonly gap: Schemas["Gap"] };

/**
 * What came over a socket for a group and was not taken yet. Messages of a queue that is reset, or goes to somebody
 * else, are never taken after that is known.
 */
export class Backlog extends Inbox {
  readonly #sub: string;
  readonly #wanted: ConsumeWanted;
  readonly #send: (op: Readonly<Record<string, unknown>>) => void;
  #waiting: Waiting[] = [];
  #seq = 0;
  /** Whether what is behind a message of its queue waits for it. */
  ordered: boolean;

  constructor(sub: string, wanted: ConsumeWanted, send: (op: Readonly<Record<string, unknown>>) => void) {
    super();
    this.#sub = sub;
    this.#wanted = wanted;
    this.#send = send;
    this.ordered = wanted.ordered;
  }

  /** The next message or gap. */
  async next(): Promise<Waiting> {
    for (;;) {
      await this.take("so", () => this.#waiting.length > 0);
      const next = this.#waiting.shift();
      if (next) return next;
    }
  }

  override put(op: ServerOp): void {
    try {
      this.#accept(op);
    } catch (error) {
      this.fail(error);
    }
    this.wake();
  }

  #accept(op: ServerOp): void {
    const { tell } = this.#wanted;
    switch (op.op) {
      case "messages":
        if (op.seq !== ++this.#seq)
          throw new BucketMQError("invalid_answer", `batch ${op.seq} came instead of ${this.#seq}`);
        for (const wire of op.items) this.#waiting.push({ kind: "message", wire });
        return;
      case "gap":
        this.#waiting.push({ kind: "gap", gap: op });
        return;
      case "subscribed": {
        const { recovered, ordered = false } = op;
        if (ordered) this.ordered = true;
        tell({ kind: "open", transport: "websocket", recovered, ordered: this.ordered });
        if (op.settings) tell(liveSettings(op.settings));
        return;
      }
      case "assigned":
      case "revoked":
        this.#drop(op.queues);
        tell({ kind: op.op, queues: ownedQueues(op.queues) });
        return;
      case "revoking":
        this.#giveBack(this.#drop(op.queues)); // so that its next owner need not wait for them
        tell({ kind: op.op, queues: ownedQueues(op.queues) });
        return;
      case "settings":
        tell(liveSettings(op.settings));
        return;
      case "stalled":
        tell({ kind: "stalled", reason: op.reason });
        return;
      default: // what a newer server says besides
    }
  }

  /** A message is about to be given back. Where order counts, those behind it wait for it: they come again. */
  returning(wire: WireMessage): void {
    if (!this.ordered) return;
    const dropped = this.#take((other) => isBehind(other, wire));
    if (this.#wanted.mode === "shared") this.#giveBack(dropped);
  }

  /** Takes the messages of queues out; others may come in their place. */
  #drop(queues: readonly Schemas["OwnedQueue"][]): WireMessage[] {
    const places = new Set(queues.map(({ topic, queue }) => `${topic}/${queue}`));
    return this.#take((wire) => places.has(`${wire.topic}/${wire.queue}`));
  }

  #take(which: (wire: WireMessage) => boolean): WireMessage[] {
    const taken: WireMessage[] = [];
    this.#waiting = this.#waiting.filter((entry) => {
      if (entry.kind !== "message" || !which(entry.wire)) return true;
      taken.push(entry.wire);
      return false;
    });
    if (taken.length > 0) {
      const bytes = taken.reduce((sum, wire) => sum + bodyBytes(wire), 0);
      this.#send({ op: "credit", sub: this.#sub, messages: taken.length, bytes });
    }
    return taken;
  }

  /** Mode shared: lets others have what nobody took. */
  override leave(): void {
    const items = this.rest();
    if (this.#wanted.mode === "shared") this.#giveBack(items);
  }

  /** Takes the messages out that nobody took. */
  rest(): WireMessage[] {
    const items = this.#waiting.flatMap((entry) => (entry.kind === "message" ? [entry.wire] : []));
    this.#waiting = [];
    return items;
  }

  #giveBack(items: readonly WireMessage[]): void {
    if (items.length === 0) return;
    const given = items.map(({ receipt }) => ({ receipt, unhandled: true }));
    this.#send({ op: "nack", sub: this.#sub, items: given });
  }
}

/** Whether a message is behind another one of its queue. */
export function isBehind(wire: WireMessage, other: WireMessage): boolean {
  return wire.topic === other.topic && wire.queue === other.queue && wire.offset > other.offset;
}
