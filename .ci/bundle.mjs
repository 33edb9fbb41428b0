// Builds dist/, or the folder that is given: one ESM bundle with code splitting, so that a command loads only what it uses.
// More entry points may follow, NAME=FILE, that share its code; --readable keeps names and layout, for profiles, and
// --metafile=FILE writes down what it is made of.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import standalone from "ajv/dist/standalone/index.js";
import { build } from "esbuild";
import { licensesText, packageAt, packagesIn } from "./licenses.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));

/** Replaces the validators by code that ajv generates now: compiling schemas at every start costs 40 ms. */
const validatorsAheadOfTime = {
  name: "validators-ahead-of-time",
  setup({ onLoad }) {
    onLoad({ filter: /src\/core\/intent\/kinds\/validators\.ts$/ }, async ({ path }) => {
      const { schemas, ajvOptions } = await bundled(`${dirname(path)}/known-kinds.ts`);
      const ajv = new Ajv({ ...ajvOptions, code: { source: true, esm: true } });
      const kinds = Object.keys(schemas);
      for (const kind of kinds) ajv.addSchema(schemas[kind], kind);
      const code = standalone.default(ajv, Object.fromEntries(kinds.map((it) => [`validate${it}`, it])));
      const table = kinds.map((it) => `${it}: (value) => (validate${it}(value) ? [] : (validate${it}.errors ?? []))`);
      return {
        contents: `${code}\nexport const validators = { ${table.join(", ")} };`,
        loader: "js",
        resolveDir: root,
      };
    });
  },
};

async function bundled(file) {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    format: "esm",
    platform: "node",
    write: false,
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/**
 * The LGPL lets whoever has Flotilla put another version of OpenPGP.js in the place of ours: it stays a file of its own,
 * beside those that load it.
 */
const replaceable = { file: "openpgp.mjs", pkg: packageAt("node_modules/openpgp", root) };
const openPgpBeside = {
  name: "openpgp-beside",
  setup({ onResolve }) {
    onResolve({ filter: /^openpgp$/ }, () => ({ path: `./${replaceable.file}`, external: true }));
  },
};

const [folder, ...more] = process.argv.slice(2);
const outdir = folder ?? `${root}dist`;
const isReadable = more.includes("--readable");
const metafile = more.find((it) => it.startsWith("--metafile="))?.slice("--metafile=".length);
const entries = more.filter((it) => !it.startsWith("--")).map((it) => it.split("="));
rmSync(outdir, { recursive: true, force: true });
const built = await build({
  absWorkingDir: root,
  entryPoints: { flotilla: "src/cmd/flotilla.ts", ...Object.fromEntries(entries) },
  outdir,
  bundle: true,
  splitting: true,
  minify: !isReadable,
  platform: "node",
  target: "node20.19",
  format: "esm",
  define: { FLOTILLA_VERSION: JSON.stringify(version) },
  // The same library as modules, which can be trimmed: it loads a quarter faster than the CommonJS that Node is given.
  alias: { yaml: `${root}node_modules/yaml/browser/dist/index.js` },
  // Bundled CommonJS packages call require() for node's own modules.
  banner: {
    js: 'import { createRequire as $require } from "node:module"; const require = $require(import.meta.url);',
  },
  plugins: [validatorsAheadOfTime, openPgpBeside],
  logLevel: "warning",
  metafile: true,
});
copyFileSync(join(root, replaceable.pkg.folder, "dist/node/openpgp.min.mjs"), join(outdir, replaceable.file));
const texts = licensesText(packagesIn(built.metafile, root), replaceable, root);
writeFileSync(join(outdir, "THIRD-PARTY-LICENSES.txt"), texts);
if (metafile !== undefined) writeFileSync(metafile, JSON.stringify(built.metafile));
