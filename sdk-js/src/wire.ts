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
  | { readonly op: "ok"; readonly id?: string; readonly receipts?: Schemas["ReceiptResults"] }
  | { readonly op: "tx_check"; readonly transaction: Schemas["Transaction"] }
  | {
      readonly op: "subscribed";
      readonly sub: string;
      readonly recovered: boolean;
      readonly cursor?: string;
      readonly gap?: readonly Schemas["Gap"][];
      readonly ordered?: boolean;
      readonly settings?: readonly Schemas["GroupSubscription"][];
    }
  | {
      readonly op: "assigned" | "revoking" | "revoked";
      readonly sub: string;
      readonly queues: readonly Schemas["OwnedQueue"][];
    }
  | {
      readonly op: "settings";
      readonly sub: string;
      readonly settings: readonly Schemas["GroupSubscription"][];
    }
  | { readonly op: "stalled"; readonly sub: string; readonly reason: string }
  | {
      readonly op: "messages";
      readonly sub: string;
      readonly seq: number;
      readonly items: readonly WireMessage[];
      readonly cursor?: string;
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

/** The answer that an operation was done. */
export type OkOp = Extract<ServerOp, { op: "ok" }>;
