// Writes src/api.gen.ts, the types of ../openapi.yaml. With --check it only
// says whether the file is up to date.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const contract = new URL("../../openapi.yaml", import.meta.url);
const target = new URL("../src/api.gen.ts", import.meta.url);

const banner = "// Generated from openapi.yaml by `npm run generate`. Do not edit.\n\n";
const want = banner + astToString(await openapiTS(contract));

if (!process.argv.includes("--check")) {
  await writeFile(target, want);
} else if ((await readFile(target, "utf8").catch(() => "")) !== want) {
  console.error("src/api.gen.ts is not what openapi.yaml says: run `npm run generate`");
  process.exitCode = 1;
}
