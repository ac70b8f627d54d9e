import { Message, type WireMessage } from "./message.js";

/** What finishes deliveries of one connection. */
export interface Settler {
  ack(wire: WireMessage): Promise<void>;
  nack(wire: WireMessage, delayMs: number | undefined): Promise<void>;
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

  /** How often it was delivered, this time included; in queue mode by this connection. */
  get attempt(): number {
    return this.#wire.attempt ?? 1;
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

  /** Gives the message back: it comes again after `delayMs`, or after what the group says for this attempt. */
  async nack(options: { readonly delayMs?: number } = {}): Promise<void> {
    await this.#settler.nack(this.#wire, options.delayMs);
  }

  /** Mode shared: hides the message for so long from now on; the group's time when left out. Otherwise it does nothing. */
  async extend(invisibleMs?: number): Promise<void> {
    this.#deadline = (await this.#settler.extend(this.#wire, invisibleMs)) ?? this.#deadline;
  }
}
