import { BucketMQError, canPass, problemError } from "./errors.js";
import { link, pauseMs, type RetryPolicy, sleep } from "./retry.js";

/** What a request may do to be repeated: `read` changes nothing, `keyed` changes it once, `change` has no key. */
export type Safety = "read" | "keyed" | "change";

/** One request of the API. */
export interface Call {
  readonly method: string;
  /** Below the server's address, each part percent-encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly safety: Safety;
  readonly signal: AbortSignal;
  /** Of one try. */
  readonly timeoutMs?: number;
}

/** A successful answer. */
export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

/** What a server is called with. */
export interface Endpoint {
  readonly base: URL;
  readonly fetch: typeof fetch;
  readonly token: () => Promise<string | undefined>;
  readonly timeoutMs: number;
  readonly retry: RetryPolicy;
}

/** The address of a call. */
export function urlOf(base: URL, call: Pick<Call, "path" | "query">): URL {
  const url = new URL(call.path, base);
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

/** Makes a call, again and again as SPEC "Retries" says. */
export async function request<T>(endpoint: Endpoint, call: Call): Promise<Answer<T>> {
  const { retry } = endpoint;
  const started = Date.now();
  let unknown = false;
  for (let attempt = 1; ; attempt++) {
    call.signal.throwIfAborted();
    let failure: BucketMQError;
    try {
      return await once<T>(endpoint, call);
    } catch (error) {
      if (!(error instanceof BucketMQError)) throw error; // an abort
      failure = error;
    }
    unknown ||= !failure.definite;
    const again = canPass(failure) && (call.safety !== "change" || failure.definite);
    const pause = pauseMs(attempt, retry.baseMs, retry.capMs, failure);
    if (!again || attempt >= retry.attempts || Date.now() - started + pause > retry.withinMs) {
      throw unknown && call.safety !== "read" ? outcomeUnknown(failure, call) : failure;
    }
    await sleep(pause, call.signal);
  }
}

function outcomeUnknown(cause: BucketMQError, call: Call): BucketMQError {
  const key = call.headers?.["Idempotency-Key"];
  return new BucketMQError("outcome_unknown", `it may have been stored: ${cause.message}`, {
    status: cause.status,
    requestId: cause.requestId,
    retryAfterMs: cause.retryAfterMs,
    ...(key === undefined ? {} : { idempotencyKey: key }),
    cause,
  });
}

async function once<T>(endpoint: Endpoint, call: Call): Promise<Answer<T>> {
  const headers = await headersOf(endpoint, call.headers);
  const limit = link(call.signal);
  const late = new BucketMQError("timeout", `no answer in time: ${call.method} ${call.path}`, {
    retryable: call.safety === "read",
  });
  const timer = setTimeout(() => limit.abort(late), call.timeoutMs ?? endpoint.timeoutMs);
  let status = 0;
  try {
    const response = await endpoint.fetch(urlOf(endpoint.base, call), {
      method: call.method,
      headers,
      signal: limit.signal,
      credentials: "omit",
      ...(call.body === undefined ? {} : { body: call.body }),
    });
    status = response.status;
    const text = await response.text();
    if (!response.ok) throw failureOf(response, text);
    return { status, body: (text === "" ? undefined : parse(text, status)) as T };
  } catch (error) {
    throw explain(error, limit.signal, call, status);
  } finally {
    clearTimeout(timer);
    limit.release();
  }
}

/** The headers of every request. */
export async function headersOf(
  endpoint: Endpoint,
  more: Readonly<Record<string, string>> = {},
): Promise<Record<string, string>> {
  const token = await endpoint.token();
  return token === undefined ? { ...more } : { Authorization: `Bearer ${token}`, ...more };
}

function explain(error: unknown, signal: AbortSignal, call: Call, status: number): unknown {
  if (signal.aborted) return signal.reason;
  if (error instanceof BucketMQError) return error;
  return new BucketMQError("network", `no answer: ${call.method} ${call.path}`, {
    status,
    retryable: call.safety === "read" || neverSent(error),
    cause: error,
  });
}

const beforeSending: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

/** Whether a failure of fetch came before anything was sent. Node says so; browsers do not. */
function neverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return typeof cause === "object" && cause !== null && "code" in cause && beforeSending.has(cause.code);
}

function parse(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new BucketMQError("invalid_answer", "the answer is not JSON", { status, cause });
  }
}

/** The error of an answer that is not a success. */
export function failureOf(response: Response, text: string): BucketMQError {
  const retryAfterMs = retryAfterOf(response.headers.get("Retry-After"));
  try {
    const problem = problemError(JSON.parse(text), retryAfterMs);
    if (problem) return problem;
  } catch {
    // not a problem document: a proxy has answered
  }
  const { status } = response;
  return new BucketMQError(`http_${status}`, `the answer is ${status} and no problem document`, {
    status,
    retryAfterMs,
    requestId: response.headers.get("X-Request-Id") ?? undefined,
    // A proxy that refuses has not passed the request on; one that fails may have.
    definite: status < 500,
    retryable: status === 429,
  });
}

/** The milliseconds that a Retry-After header means. */
export function retryAfterOf(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
