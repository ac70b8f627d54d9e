import type { WireMessage } from "./message.js";
import type { ServerOp } from "./wire.js";

/** The operations for one subscription, in order, until the first failure. */
export class Inbox {
  readonly #ops: ServerOp[] = [];
  #error: { readonly reason: unknown } | undefined;
  #wake: (() => void) | undefined;

  put(op: ServerOp): void {
    this.#ops.push(op);
    this.wake();
  }

  /** The messages that nobody has taken. */
  items(): WireMessage[] {
    return this.#ops.flatMap((op) => (op.op === "messages" ? op.items : []));
  }

  fail(reason: unknown): void {
    this.#error ??= { reason };
    this.wake();
  }

  wake(): void {
    this.#wake?.();
  }

  /** Returns the next operation, or waits for something else to be so. */
  async take(): Promise<ServerOp>;
  async take(until: "welcome", so: () => boolean): Promise<undefined>;
  async take(until?: "welcome", so: () => boolean = () => false): Promise<ServerOp | undefined> {
    for (;;) {
      if (this.#error) throw this.#error.reason;
      if (so()) return undefined;
      const op = until ? undefined : this.#ops.shift();
      if (op) return op;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
