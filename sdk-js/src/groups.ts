import type { components } from "./api.gen.js";
import { BucketMQError, invalidArgument } from "./errors.js";
import { type Endpoint, request, type Safety } from "./http.js";
import type { ChangeOptions } from "./topics.js";

type Schemas = components["schemas"];

/** What can be set of a group. What is left out gets the server's default. */
export interface GroupSettings {
  /** Who gets a message: one member (`clustering`) or each (`broadcasting`). Default `clustering`. */
  readonly mode?: Schemas["GroupMode"];
  /** How queues are dealt out. Default `averagely`. */
  readonly strategy?: string;
  /** Where the group begins in a topic that is new to it. Default `last`. */
  readonly consumeFrom?: "first" | "last" | Date;
  /** Messages of a queue are handled one batch after another. Default false. */
  readonly ordered?: boolean;
  /** How long a message that was received is hidden. Default 60 000. */
  readonly invisibleMs?: number;
  /** A member that is silent for longer is removed. Default 120 000. */
  readonly sessionTimeoutMs?: number;
  /** How long a member whose socket broke may come back. Default 10 000. */
  readonly resumeWindowMs?: number;
  /** How long an owner may take to give a queue back. Default 15 000. */
  readonly revokeTimeoutMs?: number;
  /** Default `monotonic`. */
  readonly commitPolicy?: Schemas["CommitPolicy"];
  /** How many members get queues; 0 = any number. Default 0. */
  readonly maxMembers?: number;
  /** Only clients from these addresses or networks may join. Default all. */
  readonly allowIps?: readonly string[];
  /** Clients from these addresses or networks may not join. Default none. */
  readonly denyIps?: readonly string[];
  /** The waits before the second, third, … delivery of a message that was given back. */
  readonly retryDelaysMs?: readonly number[] | RetryBackoff;
  /** After so many deliveries that failed a message is a dead letter. Default 16; 0 = any number. */
  readonly maxAttempts?: number;
  /** Your own notes. */
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Waits that grow: each is `multiplier` times the one before, and none is above `maxMs`. */
export interface RetryBackoff {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly multiplier: number;
}

/** A group as it is. */
export interface GroupInfo extends Required<Omit<GroupSettings, "consumeFrom">> {
  readonly name: string;
  readonly id: string;
  readonly consumeFrom: "first" | "last" | Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Its version, for `ifMatch`. */
  readonly etag: string;
}

/** The name as it is in a path. */
export function groupPath(name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,119}$/.test(name)) {
    throw invalidArgument(
      `group ${JSON.stringify(name)}: 1 to 120 of A-Z a-z 0-9 . _ -, beginning with a letter or digit`,
    );
  }
  return name;
}

/** One request about groups. */
export async function groupCall<T>(
  endpoint: Endpoint,
  method: string,
  path: string,
  options: {
    readonly body?: unknown;
    readonly query?: Readonly<Record<string, string | undefined>>;
    readonly headers?: Readonly<Record<string, string>>;
    readonly safety: Safety;
    readonly signal: AbortSignal;
    readonly timeoutMs?: number;
  },
): Promise<T> {
  const { body, headers = {}, ...rest } = options;
  const answer = await request<T>(endpoint, {
    method,
    path: `v1/groups${path}`,
    headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...rest,
  });
  return answer.body;
}

/** The consumer groups of a server. */
export class Groups {
  readonly #endpoint: Endpoint;
  readonly #closed: AbortSignal;

  /** @internal */
  constructor(endpoint: Endpoint, closed: AbortSignal) {
    this.#endpoint = endpoint;
    this.#closed = closed;
  }

  /** Creates a group, or replaces its settings. With `createOnly` an existing one is `group_exists`. */
  async put(
    name: string,
    settings: GroupSettings = {},
    options: ChangeOptions & { readonly createOnly?: boolean } = {},
  ): Promise<GroupInfo> {
    const headers = { ...conditions(options), ...(options.createOnly ? { "If-None-Match": "*" } : {}) };
    return infoOf(await this.#call("PUT", `/${groupPath(name)}`, options.signal, headers, wireOf(settings)));
  }

  /** Changes the settings that are given. */
  async update(name: string, settings: GroupSettings, options: ChangeOptions = {}): Promise<GroupInfo> {
    const headers = conditions(options);
    return infoOf(
      await this.#call("PATCH", `/${groupPath(name)}`, options.signal, headers, wireOf(settings)),
    );
  }

  /** One group; `group_not_found` when there is none. */
  async get(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<GroupInfo> {
    return infoOf(await this.#call("GET", `/${groupPath(name)}`, options.signal));
  }

  /** Deletes a group and its progress; one with members only by `force`. */
  async delete(name: string, options: ChangeOptions & { readonly force?: boolean } = {}): Promise<void> {
    const path = `/${groupPath(name)}${options.force ? "?force=true" : ""}`;
    await this.#call("DELETE", path, options.signal, conditions(options));
  }

  /** The groups by name, page by page as they are needed. */
  async *list(
    options: { readonly prefix?: string; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<GroupInfo, void, undefined> {
    let token: string | undefined;
    do {
      if (this.#closed.aborted) throw this.#closed.reason;
      const page: Schemas["GroupList"] = await groupCall(this.#endpoint, "GET", "", {
        query: { prefix: options.prefix, page_token: token },
        safety: "read",
        signal: options.signal ?? this.#closed,
      });
      for (const group of page.items) yield infoOf(group);
      token = page.next_page_token;
    } while (token !== undefined);
  }

  async #call(
    method: string,
    path: string,
    signal: AbortSignal | undefined,
    headers: Record<string, string> = {},
    body?: unknown,
  ): Promise<Schemas["Group"]> {
    if (this.#closed.aborted) throw this.#closed.reason;
    return groupCall(this.#endpoint, method, path, {
      headers,
      ...(body === undefined ? {} : { body }),
      safety: method === "GET" ? "read" : "change",
      signal: signal ?? this.#closed,
    });
  }
}

function conditions(options: ChangeOptions): Record<string, string> {
  return options.ifMatch === undefined ? {} : { "If-Match": options.ifMatch };
}

function wireOf(settings: GroupSettings): Schemas["GroupSettings"] {
  const { consumeFrom } = settings;
  const wire: Record<string, unknown> = {
    mode: settings.mode,
    strategy: settings.strategy,
    ordered: settings.ordered,
    invisible_ms: settings.invisibleMs,
    session_timeout_ms: settings.sessionTimeoutMs,
    resume_window_ms: settings.resumeWindowMs,
    revoke_timeout_ms: settings.revokeTimeoutMs,
    commit_policy: settings.commitPolicy,
    max_members: settings.maxMembers,
    allow_ips: settings.allowIps,
    deny_ips: settings.denyIps,
    attributes: settings.attributes,
    consume_from: consumeFrom instanceof Date ? "timestamp" : consumeFrom,
    consume_timestamp: consumeFrom instanceof Date ? consumeFrom.toISOString() : undefined,
    retry: retryOf(settings),
  };
  for (const [name, value] of Object.entries(wire)) if (value === undefined) delete wire[name];
  return wire as Schemas["GroupSettings"];
}

function retryOf({ retryDelaysMs, maxAttempts }: GroupSettings): Schemas["RetryPolicy"] | undefined {
  if (retryDelaysMs === undefined && maxAttempts === undefined) return undefined;
  const most = maxAttempts === undefined ? {} : { max_attempts: maxAttempts };
  if (retryDelaysMs === undefined) return most;
  if (!("initialMs" in retryDelaysMs)) return { ...most, delays_ms: [...retryDelaysMs] };
  const { initialMs, maxMs, multiplier } = retryDelaysMs;
  return { ...most, exponential: { initial_ms: initialMs, max_ms: maxMs, multiplier } };
}

function delaysOf({ delays_ms, exponential }: Schemas["RetryPolicy"]): readonly number[] | RetryBackoff {
  if (!exponential) return delays_ms ?? [];
  const { initial_ms, max_ms, multiplier } = exponential;
  return { initialMs: initial_ms, maxMs: max_ms, multiplier };
}

function infoOf(group: Schemas["Group"] | undefined): GroupInfo {
  if (!group) throw new BucketMQError("invalid_answer", "the answer has no group");
  return {
    name: group.group,
    id: group.group_id,
    mode: group.mode,
    strategy: group.strategy,
    consumeFrom:
      group.consume_from === "timestamp" ? new Date(group.consume_timestamp ?? 0) : group.consume_from,
    ordered: group.ordered,
    invisibleMs: group.invisible_ms,
    sessionTimeoutMs: group.session_timeout_ms,
    resumeWindowMs: group.resume_window_ms,
    revokeTimeoutMs: group.revoke_timeout_ms,
    commitPolicy: group.commit_policy,
    maxMembers: group.max_members,
    allowIps: group.allow_ips,
    denyIps: group.deny_ips,
    retryDelaysMs: delaysOf(group.retry),
    maxAttempts: group.retry.max_attempts ?? 0,
    attributes: group.attributes,
    createdAt: new Date(group.created_at),
    updatedAt: new Date(group.updated_at),
    etag: group.etag,
  };
}
