import { BucketMQError, connect } from "@bucketmq/sdk";

await using mq = connect("http://127.0.0.1:8080");
await mq.topics.put("orders");

const orders = mq.topic("orders");
const { messageId, queue, offset } = await orders.send({ orderId: 42 }, { key: "42", tag: "paid" });
console.log(`durable: ${messageId} in queue ${queue} at ${offset}`);

try {
  await orders.sendBatch([
    { body: "a", orderingKey: "customer-7" },
    { body: "b", orderingKey: "customer-7" },
  ]);
} catch (error) {
  if (!(error instanceof BucketMQError) || error.code !== "outcome_unknown") throw error;
  console.log(`it may be stored; send it again with the key ${error.idempotencyKey}`);
}
