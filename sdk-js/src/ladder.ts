import type { Transport, TransportName } from "./transport.js";

const refusedForMs = 300_000;

/** The transports of a client, best first, and what is known about them. */
export class Ladder {
  readonly #transports: ReadonlyMap<TransportName, Transport>;
  readonly #worked: Set<TransportName> = new Set();
  /** Until when (Unix milliseconds) a transport is left out. */
  readonly #refused: Map<TransportName, number> = new Map();

  constructor(transports: ReadonlyMap<TransportName, Transport>) {
    this.#transports = transports;
  }

  /** All of them, best first. */
  get names(): readonly TransportName[] {
    return [...this.#transports.keys()];
  }

  get(name: TransportName): Transport | undefined {
    return this.#transports.get(name);
  }

  /** Those of `names` that are not left out; all, when that leaves none. */
  open(names: readonly TransportName[]): readonly TransportName[] {
    const now = Date.now();
    const open = names.filter((name) => name === "long-poll" || (this.#refused.get(name) ?? 0) <= now);
    return open.length > 0 ? open : names;
  }

  /** Whether the transport has worked for this client. */
  hasWorked(name: TransportName): boolean {
    return this.#worked.has(name);
  }

  /** Whether one transport comes before another. */
  isBefore(name: TransportName, other: TransportName): boolean {
    return this.names.indexOf(name) < this.names.indexOf(other);
  }

  /** Notes that a transport has opened, in the place of those that could not be. */
  opened(name: TransportName, refused: readonly TransportName[]): void {
    this.#worked.add(name);
    this.#refused.delete(name);
    for (const other of refused) this.#refused.set(other, Date.now() + refusedForMs);
  }
}
