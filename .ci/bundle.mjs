// Builds dist/: one ESM bundle with code splitting, so that a command loads only what it uses.
import { readFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const root = new URL("..", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

rmSync(new URL("dist", root), { recursive: true, force: true });
await build({
  absWorkingDir: root.pathname,
  entryPoints: { flotilla: "src/cmd/main.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  minify: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  define: { FLOTILLA_VERSION: JSON.stringify(version) },
  // Bundled CommonJS packages call require() for node's own modules.
  banner: { js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);' },
  logLevel: "warning",
});
