import { describe, expect, test } from "vitest";
import { fromBase64, toBase64, utf8Length } from "../../src/bytes.js";
import { BucketMQError } from "../../src/index.js";
import { Message } from "../../src/message.js";
import { Position } from "../../src/position.js";
import { EventParser } from "../../src/sse.js";
import { message } from "./fakes.js";

describe("EventParser", () => {
  const text =
    "\uFEFFretry: 700\r\n\r\n:hello\nid: a\n\nid:b\revent: message\rdata: {\ndata:}\n\ndata: x\nid: c\n\n";
  const want = [
    { type: "message", id: "a", data: undefined },
    { type: "message", id: "b", data: "{\n}" },
    { type: "message", id: "c", data: "x" },
  ];

  test.each([1, 2, 3, 7, 1000])("events are the same in pieces of %i", (size) => {
    const parser = new EventParser();
    const plain = text.slice(1);
    const events = [];
    for (let at = 0; at < plain.length; at += size) events.push(...parser.push(plain.slice(at, at + size)));
    expect(events).toEqual(want);
    expect(parser.retryMs).toBe(700);
  });
});

describe("Message", () => {
  test("a tombstone is not an empty body", () => {
    const gone = new Message(message(0, 1, null), "orders");
    expect([gone.tombstone, gone.text(), gone.bytes(), gone.json()]).toEqual([true, null, null, null]);
    const empty = new Message(message(0, 1, ""), "orders");
    expect([empty.tombstone, empty.text(), empty.bytes()]).toEqual([false, "", new Uint8Array()]);
  });

  test("a binary body is bytes, and text only when it is UTF-8", () => {
    const binary = (body: string): Message =>
      new Message({ ...message(0, 1, body), encoding: "base64" }, "orders");
    expect(binary("77u/w6k=").text()).toBe("\uFEFFé");
    expect(binary("/w==").bytes()).toEqual(new Uint8Array([255]));
    expect(() => binary("/w==").text()).toThrow(BucketMQError);
    expect(() => new Message(message(0, 1, "{"), "orders").json()).toThrow(BucketMQError);
  });
});

describe("bytes", () => {
  test("base64 and back, for every byte and many lengths", () => {
    for (const length of [0, 1, 2, 3, 255, 256, 100_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i);
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
      expect(fromBase64(toBase64(bytes))).toEqual(bytes);
    }
  });

  test.each(["", "a", "é", "€", "😀", "a😀é€".repeat(99)])("utf8Length of %j", (text) => {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  });
});

describe("Position", () => {
  const at = (): Position => new Position("orders", 1, [[0, 12]], "c");

  test("a part of a gap that was yielded is no news", () => {
    expect(at().jump({ queue: 0, from: 5, to: 12, reason: "trimmed" })).toBeUndefined();
    expect(at().jump({ queue: 0, from: 5, to: 20, reason: "trimmed" })).toMatchObject({ from: 12, to: 20 });
  });

  test("a gap that goes back is followed", () => {
    const position = at();
    expect(position.jump({ queue: 0, from: 12, to: 3, reason: "epoch_changed" })).toMatchObject({ to: 3 });
    expect(position.take(message(0, 3))).toBe(true);
    expect(position.take(message(0, 3))).toBe(false);
    expect(position.epoch).toBeUndefined();
  });

  test("it survives being saved", () => {
    const saved = Position.parse(at().toString(), "orders");
    expect([saved.epoch, saved.cursor, saved.next(0), saved.next(1)]).toEqual([1, "c", 12, 0]);
    expect(() => Position.parse(at().toString(), "other")).toThrow(/of topic orders/);
    for (const bad of ["", "e30", "bnVsbA", "%%%", at().toString().slice(3)]) {
      expect(() => Position.parse(bad, "orders")).toThrow(BucketMQError);
    }
  });
});
