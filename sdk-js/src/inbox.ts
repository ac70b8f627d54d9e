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

  fail(reason: unknown): void {
    this.#error ??= { reason };
    this.wake();
  }

  /** The socket is about to be closed in order: the last time to say something. */
  leave(): void {}

  wake(): void {
    this.#wake?.();
  }

  /** Returns the next operation, or waits for something else to be so. */
  async take(): Promise<ServerOp>;
  async take(until: "so", so: () => boolean): Promise<undefined>;
  async take(until?: "so", so: () => boolean = () => false): Promise<ServerOp | undefined> {
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
