import { Message, type WireMessage } from "./message.js";

/** How a message is given back. */
export interface NackOptions {
  /** How long it waits before it comes again; what the group says for this attempt when left out. */
  readonly delayMs?: number;
  /** Why, for whoever looks at retries and dead letters. */
  readonly reason?: string;
  /** It is not to come again: it is a dead letter. Not with `delayMs`. */
  readonly deadLetter?: boolean;
  /** Nobody tried it: it comes again at once, and this delivery does not count as an attempt. Not with the others. */
  readonly unhandled?: boolean;
}

/** @internal One item of a nack. */
export function nackItem(
  { receipt }: WireMessage,
  { delayMs, reason, deadLetter, unhandled }: NackOptions,
): Record<string, unknown> {
  return {
    receipt,
    ...(delayMs === undefined ? {} : { delay_ms: delayMs }),
    ...(reason === undefined ? {} : { reason }),
    ...(deadLetter ? { dead_letter: true } : {}),
    ...(unhandled ? { unhandled: true } : {}),
  };
}

/** What finishes deliveries of one connection. */
export interface Settler {
  ack(wire: WireMessage): Promise<void>;
  nack(wire: WireMessage, options: NackOptions): Promise<void>;
  extend(wire: WireMessage, invisibleMs: number | undefined): Promise<Date | undefined>;
}

/**
 * A message that was delivered to a group, until it is finished.
 *
 * @example
 * for await (const message of mq.group("billing").consume("orders")) {
 *   await charge(message.json());
 *   await message.ack();
 * }
 */
export class Delivery extends Message {
  readonly #wire: WireMessage;
  readonly #settler: Settler;
  #deadline: Date | undefined;

  /** @internal */
  constructor(wire: WireMessage, topic: string, settler: Settler) {
    super(wire, topic);
    this.#wire = wire;
    this.#settler = settler;
    this.#deadline = wire.deadline === undefined ? undefined : new Date(wire.deadline);
  }

  /** How often it was delivered, this time included. */
  get attempt(): number {
    return (this.#wire.attempt ?? 1) + (this.#wire.origin?.attempts ?? 0);
  }
  /** Mode shared: until when it is hidden from others. */
  get deadline(): Date | undefined {
    return this.#deadline;
  }

  /**
   * Finishes the message. `receipt_expired` and `receipt_superseded` say that it comes again, or was finished by
   * somebody else. Repeating it is fine.
   */
  async ack(): Promise<void> {
    await this.#settler.ack(this.#wire);
  }

  /**
   * Gives the message back: it comes again after `delayMs`, or after what the group says for this attempt. One that has
   * had the group's `max_attempts` becomes a dead letter. Over long poll in queue mode the message is kept by this
   * client and comes again from there, however often, and it cannot be made a dead letter.
   */
  async nack(options: NackOptions = {}): Promise<void> {
    await this.#settler.nack(this.#wire, options);
  }

  /** Gives the message up: it is a dead letter of the group. */
  async deadLetter(reason?: string): Promise<void> {
    await this.nack({ deadLetter: true, ...(reason === undefined ? {} : { reason }) });
  }

  /** Mode shared: hides the message for so long from now on; the group's time when left out. Otherwise it does nothing. */
  async extend(invisibleMs?: number): Promise<void> {
    this.#deadline = (await this.#settler.extend(this.#wire, invisibleMs)) ?? this.#deadline;
  }
}
