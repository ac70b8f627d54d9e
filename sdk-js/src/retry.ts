import { type BucketMQError, invalidArgument } from "./errors.js";

/** How failures are repeated. */
export interface RetryOptions {
  /** Tries of one call, the first included. Default 5. */
  readonly attempts?: number;
  /** No try begins later than this. Default 60 000, at most 300 000. */
  readonly withinMs?: number;
  /** The longest first pause. Default 200. */
  readonly baseMs?: number;
  /** The longest pause of a call. Default 5 000. */
  readonly capMs?: number;
  /** The longest pause of a tail that reconnects. Default 20 000. */
  readonly tailCapMs?: number;
}

/** The options with all their defaults. */
export type RetryPolicy = Required<RetryOptions>;

/** Checks the options and fills in the defaults. */
export function retryPolicy(options: RetryOptions = {}): RetryPolicy {
  const policy = { attempts: 5, withinMs: 60_000, baseMs: 200, capMs: 5_000, tailCapMs: 20_000, ...options };
  if (!Number.isInteger(policy.attempts) || policy.attempts < 1) {
    throw invalidArgument("retry.attempts: a whole number from 1");
  }
  // The server forgets a key after 10 minutes; the last try must be well before.
  if (!(policy.withinMs >= 0 && policy.withinMs <= 300_000))
    throw invalidArgument("retry.withinMs: 0 to 300000");
  for (const name of ["baseMs", "capMs", "tailCapMs"] as const) {
    if (!(policy[name] >= 1)) throw invalidArgument(`retry.${name}: at least 1`);
  }
  return policy;
}

const leastPauseMs = 20;

/** The pause after `failures` failures in a row: full jitter below a growing cap, never 0, after what the server asks for. */
export function pauseMs(failures: number, baseMs: number, capMs: number, error?: BucketMQError): number {
  const most = Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 30));
  return Math.max(leastPauseMs, Math.random() * most) + (error?.retryAfterMs ?? 0);
}

/** Waits; rejects with the signal's reason when that comes first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** A signal that follows others until `release`. */
export interface Linked {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  release(): void;
}

/** Makes a signal that aborts with the first of the given ones. Unlike AbortSignal.any it leaves nothing behind on them. */
export function link(...signals: readonly (AbortSignal | undefined)[]): Linked {
  const controller = new AbortController();
  const follows: (() => void)[] = [];
  for (const signal of signals) {
    if (!signal) continue;
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    signal.addEventListener("abort", follow, { once: true });
    follows.push(() => signal.removeEventListener("abort", follow));
  }
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    release: () => {
      for (const stop of follows) stop();
    },
  };
}
