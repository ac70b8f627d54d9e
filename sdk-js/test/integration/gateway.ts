import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real server with data of its own, on a port that stays the same. */
export class Gateway implements AsyncDisposable {
  readonly url: string;
  readonly #arguments: readonly string[];
  readonly #data: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, data: string, more: readonly string[]) {
    this.url = `http://127.0.0.1:${port}`;
    this.#data = data;
    const fixed = ["serve", "--data", data, "--listen", `127.0.0.1:${port}`, "--management-listen", ""];
    this.#arguments = [...fixed, ...more];
  }

  static async start(...more: string[]): Promise<Gateway> {
    const gateway = new Gateway(await freePort(), await mkdtemp(join(tmpdir(), "bucketmq-sdk-")), more);
    await gateway.start();
    return gateway;
  }

  /** Starts the process and waits until it says that it is ready. */
  async start(): Promise<void> {
    const binary = process.env["BUCKETMQ_BIN"];
    if (!binary) throw new Error("BUCKETMQ_BIN is not set");
    const child = spawn(binary, this.#arguments, { stdio: ["ignore", "pipe", "pipe"] });
    this.#process = child;
    let log = "";
    child.stderr.on("data", (text) => (log += text));
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (text) => String(text).includes("is ready") && resolve());
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the server ended with ${code}\n${log}`)));
    });
  }

  /** Ends the process without a goodbye. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#data, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
