// Bundles the product and the bench into a folder of their own, and runs the bench there: `npm run bench -- --help`.
// Whoever runs it several times names the folder in FLOTILLA_BENCH_BUNDLE: what is there already is run again.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const named = process.env["FLOTILLA_BENCH_BUNDLE"];
const bundle = named ?? mkdtempSync(join(tmpdir(), "flotilla-bench-bundle-"));

/** Tests' files look for others beside themselves; bundled, they still do. */
const whereItStood = {
  name: "where-it-stood",
  setup({ onLoad }) {
    onLoad({ filter: /\/test\/.*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)),
      loader: "ts",
    }));
  },
};

// The bench ends by itself when it is interrupted; then there is still something to tidy up here.
process.on("SIGINT", () => {}).on("SIGTERM", () => {});

async function buildBench() {
  // A profile that is to be read needs names; otherwise what is measured is what users run.
  const readable = process.argv.some((it) => it.startsWith("--profile")) ? ["--readable"] : [];
  const parts = ["reconciler=test/bench/reconciler.ts", "bare=test/bench/bare.ts", "decode=test/bench/decode.ts"];
  execFileSync(process.execPath, [join(root, ".ci/bundle.mjs"), bundle, ...readable, ...parts], { stdio: "inherit" });
  await build({
    absWorkingDir: root,
    entryPoints: ["test/bench/bench.ts"],
    outfile: join(bundle, "bench.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [whereItStood],
    banner: {
      js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
    },
    logLevel: "warning",
  });
}

try {
  if (!existsSync(join(bundle, "bench.js"))) await buildBench();
  process.exitCode = spawnSync(process.execPath, [join(bundle, "bench.js"), ...process.argv.slice(2)], {
    stdio: "inherit",
  }).status;
} finally {
  if (named === undefined) rmSync(bundle, { recursive: true, force: true });
}
