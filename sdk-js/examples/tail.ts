import { readFile, writeFile } from "node:fs/promises";
import { connect } from "@bucketmq/sdk";
import { WebSocket } from "ws"; // Node 20 has none of its own; browsers and later versions do

await using mq = connect("http://127.0.0.1:8080", { WebSocket });

const cursor = await readFile("orders.cursor", "utf8").catch(() => undefined);
const tail = mq.topic("orders").tail({
  from: cursor ? { cursor } : "earliest",
  tags: "paid || refunded",
  onGap: (gap) => console.warn(`lost ${gap.from} to ${gap.to} of queue ${gap.queue}: ${gap.reason}`),
  onState: (state) => console.info(state),
});

for await (const message of tail) {
  if (message.tombstone) console.log("gone:", message.keys);
  else console.log(message.queue, message.offset, message.json());
  await writeFile("orders.cursor", tail.cursor ?? "");
}
