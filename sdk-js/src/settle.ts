import type { Backlog } from "./backlog.js";
import type { ConsumeWanted } from "./consuming.js";
import { nackItem, type Settler } from "./delivery.js";
import type { Credit, OkOp } from "./wire.js";

/** Finishes deliveries over the socket that they came on. */
export function socketSettler(
  backlog: Backlog,
  ask: (op: Readonly<Record<string, unknown>>) => Promise<OkOp>,
): Settler {
  return {
    ack: async ({ receipt }) => {
      await ask({ op: "ack", receipts: [receipt] });
    },
    nack: async (wire, options) => {
      backlog.returning(wire);
      await ask({ op: "nack", items: [nackItem(wire, options)] });
    },
    extend: async ({ receipt, deadline }, invisibleMs) => {
      if (deadline === undefined) return undefined; // nobody else waits for it
      const item = { receipt, ...(invisibleMs === undefined ? {} : { invisible_ms: invisibleMs }) };
      const ok = await ask({ op: "extend", items: [item] });
      const until = ok.receipts?.results[0]?.deadline;
      return until === undefined ? undefined : new Date(until);
    },
  };
}

/** A settler that goes on with another one once the first is gone. */
export function firstOf(first: Settler, other: Settler, gone: () => boolean): Settler {
  const settle = async <T>(by: (settler: Settler) => Promise<T>): Promise<T> => {
    if (gone()) return by(other);
    try {
      return await by(first);
    } catch (error) {
      if (!gone()) throw error;
      return by(other);
    }
  };
  return {
    ack: (wire) => settle((s) => s.ack(wire)),
    nack: (wire, options) => settle((s) => s.nack(wire, options)),
    extend: (wire, invisibleMs) => settle((s) => s.extend(wire, invisibleMs)),
  };
}

/** What a subscription for a group asks for. */
export function consumeOf(sub: string, wanted: ConsumeWanted, credit: Credit): Record<string, unknown> {
  const { group, mode, topics, clientId, sessionKey, ordered, invisibleMs } = wanted;
  const more =
    mode === "shared"
      ? { ...(invisibleMs === undefined ? {} : { invisible_ms: invisibleMs }) }
      : { client_id: clientId, session_key: sessionKey, ...(ordered ? { ordered } : {}) };
  return { sub, mode, group, topics, credit, ...more };
}
