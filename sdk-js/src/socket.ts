import type { CheckSource } from "./checker.js";
import { Connection } from "./connection.js";
import type { ConsumeSource, ConsumeWanted } from "./consuming.js";
import type { Endpoint } from "./http.js";
import type { Transport, Wanted } from "./transport.js";

/** The part of a WebSocket that the SDK uses; that of browsers and of the `ws` package fit. */
export interface WebSocketLike {
  readonly protocol: string;
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
}

/** What makes WebSockets. */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

/** What a socket is opened with. */
export interface SocketOptions {
  readonly endpoint: Endpoint;
  readonly WebSocket: WebSocketConstructor;
  readonly client: string;
}

/** The one socket of a client: opened for its first tail or consumer, closed with its last. */
export class SocketHub {
  readonly #options: SocketOptions;
  #current: Connection | undefined;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  /** Follows a topic on the shared socket. */
  readonly follow: Transport = async function* (this: SocketHub, wanted: Wanted) {
    if (!this.#current?.usable) this.#current = new Connection(this.#options);
    yield* this.#current.subscribe(wanted);
  }.bind(this);

  /** Consumes for a group on the shared socket. */
  readonly consume: ConsumeSource = async function* (this: SocketHub, wanted: ConsumeWanted) {
    if (!this.#current?.usable) this.#current = new Connection(this.#options);
    yield* this.#current.consume(wanted);
  }.bind(this);

  /** Brings the checks of a producer group on the shared socket. */
  readonly produce: CheckSource = async function* (this: SocketHub, group: string, signal: AbortSignal) {
    if (!this.#current?.usable) this.#current = new Connection(this.#options);
    yield* this.#current.produce(group, signal);
  }.bind(this);

  close(): void {
    this.#current?.leave();
  }
}
