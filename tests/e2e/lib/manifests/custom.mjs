// Checks custom resources, a JSON list on standard input, against the schemas of their projects:
// the generated validators for values, and TypeScript for unknown keys.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const packages = {
  "gateway.networking.k8s.io": "@kubernetes-models/gateway-api",
  "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
};
const things = JSON.parse(readFileSync(0, "utf8"));
const lines = things.flatMap((thing, index) => {
  const { kind, apiVersion } = thing;
  const name = `${packages[apiVersion.split("/")[0]]}/${apiVersion}/${kind}`;
  return [
    `import { ${kind} as M${index}, type I${kind} as T${index} } from "${name}";`,
    `const thing${index}: T${index} = ${JSON.stringify(thing, null, 1)};`,
    `new M${index}(thing${index}).validate();`,
  ];
});

// Next to node_modules, where node and the compiler look for packages.
const tools = process.env.NODE_TOOLS;
const directory = mkdtempSync(`${tools}/custom-`);
try {
  writeFileSync(`${directory}/things.mts`, lines.join("\n"));
  const compiler = `${tools}/node_modules/typescript/lib/tsc.js`;
  const options = ["--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022"];
  const run = (...args) => execFileSync("node", args, { cwd: directory, stdio: "inherit" });
  run(compiler, ...options, "things.mts");
  run("things.mjs");
} finally {
  rmSync(directory, { recursive: true });
}
