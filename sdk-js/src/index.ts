export type { Checker, CheckHandler, CheckOptions, CheckOutcome } from "./checker.js";
export { Client, type ConnectOptions, connect } from "./client.js";
export type { ConsumeOptions, Consumer, TopicSelection } from "./consumer.js";
export type { ConsumeMode, ConsumerEvent, LiveSettings, OwnedQueue } from "./consuming.js";
export type { Delivery, NackOptions } from "./delivery.js";
export { BucketMQError, type Gap, type ProblemItem, type SendOutcome, type SendResult } from "./errors.js";
export type {
  DeadLetterSelection,
  FailedMessage,
  Group,
  GroupOffset,
  OffsetChange,
  ResetTarget,
} from "./group.js";
export type { GroupInfo, GroupSettings, Groups, RetryBackoff } from "./groups.js";
export type { Message } from "./message.js";
export type { Producer, ProducerOptions } from "./producer.js";
export type { MessageOptions, NewMessage, SendOptions } from "./publish.js";
export type { Page, Reader, ReadOptions, Start } from "./pull.js";
export type { Reply, ReplyOptions, RequestOptions } from "./replies.js";
export type { RetryOptions } from "./retry.js";
export type { SearchOptions } from "./search.js";
export type { WebSocketConstructor, WebSocketLike } from "./socket.js";
export type { Tail, TailOptions, TailState } from "./tail.js";
export type { Topic } from "./topic.js";
export type { ChangeOptions, TopicInfo, TopicSettings, Topics, TopicType } from "./topics.js";
export type {
  BeginOptions,
  Transaction,
  TransactionInfo,
  TransactionPlace,
  TransactionState,
  Transactions,
} from "./transactions.js";
export type { TransportName } from "./transport.js";
export type { Handler, RunOptions, Worker } from "./worker.js";
