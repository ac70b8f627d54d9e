// Puts the examples into README.md, between `<!-- name.ts -->` and the end of
// the code block behind it. With --check it only says whether they are there.
import { readFile, writeFile } from "node:fs/promises";

const readme = new URL("../README.md", import.meta.url);
const before = await readFile(readme, "utf8");
let after = before;
for (const [block, name] of before.matchAll(/<!-- ([a-z]+\.ts) -->\n```ts\n[\s\S]*?```/g)) {
  const example = await readFile(new URL(`../examples/${name}`, import.meta.url), "utf8");
  after = after.replace(block, () => `<!-- ${name} -->\n\`\`\`ts\n${example}\`\`\``);
}

if (!process.argv.includes("--check")) {
  await writeFile(readme, after);
} else if (after !== before) {
  console.error("README.md does not quote the examples as they are: run `npm run quotes:write`");
  process.exitCode = 1;
}
