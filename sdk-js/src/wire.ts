import type { components } from "./api.gen.js";
import type { WireMessage } from "./message.js";

type Schemas = components["schemas"];

/** What may be sent. */
export interface Credit {
  readonly messages: number;
  readonly bytes: number;
}

/** The operations of asyncapi.yaml that the server sends and the SDK reads. */
export type ServerOp =
  | {
      readonly op: "welcome";
      readonly heartbeat_ms: number;
      readonly limits: { readonly credit_messages: number; readonly credit_bytes: number };
    }
  | { readonly op: "error"; readonly id?: string; readonly problem: Schemas["Problem"] }
  | {
      readonly op: "subscribed";
      readonly sub: string;
      readonly cursor: string;
      readonly gap?: readonly Schemas["Gap"][];
    }
  | {
      readonly op: "messages";
      readonly sub: string;
      readonly seq: number;
      readonly items: readonly WireMessage[];
      readonly cursor: string;
    }
  | {
      readonly op: "gap";
      readonly sub: string;
      readonly topic: string;
      readonly queue: number;
      readonly from: number;
      readonly to: number;
      readonly reason: string;
    }
  | { readonly op: "ping"; readonly n: number }
  | { readonly op: "goaway"; readonly reason: string; readonly reconnect_after_ms: number }
  | { readonly op: "unsubscribed"; readonly sub: string; readonly problem: Schemas["Problem"] };
