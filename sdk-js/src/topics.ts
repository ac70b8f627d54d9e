import type { components } from "./api.gen.js";
import { BucketMQError, invalidArgument } from "./errors.js";
import { type Endpoint, request } from "./http.js";

type Schemas = components["schemas"];

/** What a topic is for. */
export type TopicType = Schemas["TopicType"];

/** What can be set of a topic. What is left out gets the server's default. */
export interface TopicSettings {
  /** Default `normal`. It never changes. */
  readonly type?: TopicType;
  /** How many queues, 1 to 1024; they only grow. Default 8. */
  readonly queues?: number;
  /** How long messages are kept; 0 = for ever. Default 72 hours. */
  readonly retentionMs?: number;
  /** How much is kept per queue; 0 = no limit. Default 0. */
  readonly retentionBytes?: number;
  /** The largest body. Default 4 MiB. */
  readonly maxMessageBytes?: number;
  /** Your own notes. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** A topic as it is. */
export interface TopicInfo extends Required<TopicSettings> {
  readonly name: string;
  /** Offsets name the same message for ever within an epoch. */
  readonly epoch: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Its version, for `ifMatch`. */
  readonly etag: string;
}

/** Conditions of a change. */
export interface ChangeOptions {
  /** Only if the topic has this etag; else `version_conflict`. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
}

/** The name as it is in a path. Checked here, because `..` would be another path. */
export function topicPath(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$/.test(name)) {
    throw invalidArgument(
      `topic ${JSON.stringify(name)}: 1 to 127 of A-Z a-z 0-9 . _ -, beginning with a letter or digit`,
    );
  }
  return name;
}

/** The topics of a server. */
export class Topics {
  readonly #endpoint: Endpoint;
  readonly #closed: AbortSignal;

  /** @internal */
  constructor(endpoint: Endpoint, closed: AbortSignal) {
    this.#endpoint = endpoint;
    this.#closed = closed;
  }

  /** Creates a topic, or replaces its settings. With `createOnly` an existing one is `topic_exists`. */
  async put(
    name: string,
    settings: TopicSettings = {},
    options: ChangeOptions & { readonly createOnly?: boolean } = {},
  ): Promise<TopicInfo> {
    const headers = { ...conditions(options), ...(options.createOnly ? { "If-None-Match": "*" } : {}) };
    return infoOf(
      await this.#call<Schemas["Topic"]>("PUT", topicPath(name), options.signal, headers, wireOf(settings)),
    );
  }

  /** One topic; `topic_not_found` when there is none. */
  async get(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<TopicInfo> {
    return infoOf(await this.#call<Schemas["Topic"]>("GET", topicPath(name), options.signal));
  }

  /** Deletes a topic and all its messages. */
  async delete(name: string, options: ChangeOptions = {}): Promise<void> {
    await this.#call("DELETE", topicPath(name), options.signal, conditions(options));
  }

  /** The topics by name, page by page as they are needed. */
  async *list(
    options: { readonly prefix?: string; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<TopicInfo, void, undefined> {
    let token: string | undefined;
    do {
      if (this.#closed.aborted) throw this.#closed.reason;
      const { body } = await request<Schemas["TopicList"]>(this.#endpoint, {
        method: "GET",
        path: "v1/topics",
        query: { prefix: options.prefix, page_token: token },
        safety: "read",
        signal: options.signal ?? this.#closed,
      });
      for (const topic of body.items) yield infoOf(topic);
      token = body.next_page_token;
    } while (token !== undefined);
  }

  async #call<T>(
    method: string,
    name: string,
    signal: AbortSignal | undefined,
    headers: Record<string, string> = {},
    settings?: Schemas["TopicSettings"],
  ): Promise<T> {
    if (this.#closed.aborted) throw this.#closed.reason;
    const { body } = await request<T>(this.#endpoint, {
      method,
      path: `v1/topics/${name}`,
      headers: settings === undefined ? headers : { "Content-Type": "application/json", ...headers },
      ...(settings === undefined ? {} : { body: JSON.stringify(settings) }),
      safety: method === "GET" ? "read" : "change",
      signal: signal ?? this.#closed,
    });
    return body;
  }
}

function conditions(options: ChangeOptions): Record<string, string> {
  return options.ifMatch === undefined ? {} : { "If-Match": options.ifMatch };
}

function wireOf(settings: TopicSettings): Schemas["TopicSettings"] {
  const { type, queues, retentionMs, retentionBytes, maxMessageBytes, attributes } = settings;
  return {
    ...(type === undefined ? {} : { type }),
    ...(queues === undefined ? {} : { queues }),
    ...(retentionMs === undefined ? {} : { retention_ms: retentionMs }),
    ...(retentionBytes === undefined ? {} : { retention_bytes: retentionBytes }),
    ...(maxMessageBytes === undefined ? {} : { max_message_bytes: maxMessageBytes }),
    ...(attributes === undefined ? {} : { attributes: { ...attributes } }),
  };
}

function infoOf(topic: Schemas["Topic"] | undefined): TopicInfo {
  if (!topic) throw new BucketMQError("invalid_answer", "the answer has no topic");
  return {
    name: topic.topic,
    type: topic.type,
    queues: topic.queues,
    epoch: topic.epoch,
    retentionMs: topic.retention_ms,
    retentionBytes: topic.retention_bytes,
    maxMessageBytes: topic.max_message_bytes,
    attributes: topic.attributes,
    createdAt: new Date(topic.created_at),
    updatedAt: new Date(topic.updated_at),
    etag: topic.etag,
  };
}
