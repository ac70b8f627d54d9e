import { connect } from "@bucketmq/sdk";

await using mq = connect("http://127.0.0.1:8080");
await mq.groups.put("shipping", { consumeFrom: "first" });

// One message after another; leaving the loop leaves the group.
for await (const message of mq.group("shipping").consume("orders", { tags: "paid" })) {
  console.log(message.queue, message.offset, message.attempt, message.json());
  await message.ack(); // or .nack({ delayMs: 5_000 })
  if (message.tag === "last") break;
}

// Several at a time: returning finishes a message, throwing gives it back.
const worker = mq
  .group("shipping")
  .run("orders", async (message) => console.log(message.text()), { tags: "paid", concurrency: 8 });
process.once("SIGINT", () => void worker.stop());
await worker.done;
