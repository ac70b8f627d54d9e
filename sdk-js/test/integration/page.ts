import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

const dist = new URL("../../dist/", import.meta.url);

const html = `<!doctype html><title>SDK</title>
<script type="module">import * as sdk from "/dist/index.js"; globalThis.sdk = sdk;</script>`;

/** Serves a browser the built SDK, and a page that has it as `sdk`. */
export class Page implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Page> {
    const server = createServer(async (request, response) => {
      const name = /^\/dist\/([a-z.-]+\.js)$/.exec(request.url ?? "")?.[1];
      const script = name && (await readFile(new URL(name, dist)).catch(() => undefined));
      if (script) response.writeHead(200, { "Content-Type": "text/javascript" }).end(script);
      else if (request.url === "/") response.writeHead(200, { "Content-Type": "text/html" }).end(html);
      else response.writeHead(404).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Page(server);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
