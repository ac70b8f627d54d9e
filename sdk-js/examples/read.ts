import { connect } from "@bucketmq/sdk";

await using mq = connect("http://127.0.0.1:8080");

const hourAgo = new Date(Date.now() - 3_600_000);
for await (const message of mq.topic("orders").read(0, { from: hourAgo })) {
  console.log(message.offset, message.storedAt.toISOString(), message.text());
}
