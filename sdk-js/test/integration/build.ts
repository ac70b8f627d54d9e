import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Builds the server once, unless BUCKETMQ_BIN names one. */
export function setup(): void {
  if (process.env["BUCKETMQ_BIN"]) return;
  const built = spawnSync("go", ["build", "-o", ".bin/bucketmq", "./cmd/bucketmq"], {
    cwd: root,
    encoding: "utf8",
  });
  if (built.status !== 0) {
    throw new Error(
      `cannot build the server; set BUCKETMQ_BIN to one\n${built.error?.message ?? built.stderr}`,
    );
  }
  process.env["BUCKETMQ_BIN"] = `${root}.bin/bucketmq`;
}
