// The public surface as the compiler sees it; `npm run types` is the test.
import {
  BucketMQError,
  type Client,
  connect,
  type Delivery,
  type Gap,
  type Message,
  type SendResult,
} from "@bucketmq/sdk";
import { WebSocket as NodeWebSocket } from "ws";

export async function surface(): Promise<void> {
  const mq: Client = connect("http://h", { WebSocket: NodeWebSocket, token: async () => "t" });
  connect("http://h", { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch });
  // @ts-expect-error not a transport
  connect("http://h", { transports: ["carrier-pigeon"] });
  for await (const message of mq.group("billing").consume("orders", { tags: "paid" })) {
    const delivery: Delivery = message;
    await delivery.ack();
    // @ts-expect-error a message is given back after a time, not at one
    await delivery.nack({ delayMs: new Date() });
  }
  const worker = mq
    .group("billing")
    .run([{ topic: "orders" }], (message) => message.json(), { concurrency: 8 });
  await worker.stop();
  // @ts-expect-error a reset leads somewhere
  await mq.group("billing").reset("orders", "somewhere");

  const sent: SendResult = await mq.topic("orders").send({ any: "value" }, { tag: "paid" });
  // @ts-expect-error results do not change
  sent.offset = 1;
  // @ts-expect-error a batch has bodies
  await mq.topic("orders").sendBatch([{ tag: "paid" }]);

  for await (const message of mq.topic("orders").tail({ onGap: (gap: Gap) => gap.reason.length })) {
    const known: Message = message;
    const text: string | null = known.text();
    // @ts-expect-error a tombstone has no text
    const never: string = known.text();
    // @ts-expect-error what json returns is not known
    known.json().orderId;
    const { orderId } = known.json<{ orderId: number }>();
    orderId.toFixed();
    void [text, never];
  }
  for await (const page of mq.topic("orders").read(0, { from: 42 }).pages()) page.nextOffset.toFixed();
  // @ts-expect-error offsets are numbers, times are Dates
  mq.topic("orders").read(0, { from: "2026-12-01" });

  const error = new BucketMQError("x", "x");
  const retryable: boolean = error.retryable;
  void retryable;
}
