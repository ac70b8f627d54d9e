import { connect } from "@bucketmq/sdk";

await using mq = connect("http://127.0.0.1:8080");
await mq.topics.put("orders", { type: "transaction" });
await mq.topics.put("stock", { type: "mixed" });

const sellers = mq.transactions("sellers");
const paid = new Set<string | undefined>(["order-42"]); // your database

// Runs in every producer: decides what another one, or this one before a crash, left open.
await using checker = sellers.check(({ reference }) => (paid.has(reference) ? "commit" : "unknown"));

const tx = await sellers.begin(
  { orders: [{ body: { orderId: 42 }, key: "42" }], stock: [{ body: { item: 7, count: -1 } }] },
  { reference: "order-42" },
);
const { places } = await (paid.has("order-42") ? tx.commit() : tx.rollback());
console.log(places); // readable by now, in both topics
await checker.stop();
