import type { Delivery } from "./delivery.js";

/** The shortest time that a message is hidden by a group. */
const leastHiddenMs = 10_000;
const leastPauseMs = 1_000;

/** Keeps messages of mode shared hidden while their handlers run. */
export class Hiding {
  readonly #invisibleMs: number | undefined;
  readonly #askGroup: (signal: AbortSignal) => Promise<number>;
  readonly #ended: AbortController = new AbortController();
  /** How long a message is hidden, as far as is known. */
  #hiddenMs: number;
  #asked = false;

  constructor(invisibleMs: number | undefined, askGroup: (signal: AbortSignal) => Promise<number>) {
    this.#invisibleMs = invisibleMs;
    this.#askGroup = askGroup;
    this.#hiddenMs = invisibleMs ?? leastHiddenMs;
  }

  /** Hides a message again and again until the function it returns is called. */
  hide(message: Delivery): () => void {
    this.#ask();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let over = false;
    const arm = (): void => {
      if (over) return;
      timer = setTimeout(() => {
        message.extend(this.#invisibleMs).then(arm, () => {}); // the ack tells
      }, this.#pauseMs(message.deadline));
    };
    arm();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }

  end(): void {
    this.#ended.abort();
  }

  /** The deadline is the server's clock, so it can only make the pause shorter. */
  #pauseMs(deadline: Date | undefined): number {
    const left = deadline === undefined ? Number.POSITIVE_INFINITY : (deadline.getTime() - Date.now()) / 2;
    return Math.max(leastPauseMs, Math.min(this.#hiddenMs / 3, left));
  }

  #ask(): void {
    if (this.#asked || this.#invisibleMs !== undefined) return;
    this.#asked = true;
    this.#askGroup(this.#ended.signal).then(
      (ms) => {
        this.#hiddenMs = ms;
      },
      () => {}, // the shortest will do
    );
  }
}
