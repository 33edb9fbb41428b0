// Which packages a bundle holds, and under which licences: what has to go along with it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Packages that a build took something from: folder, name, version, licence and its texts. In the order of their names. */
export function packagesIn(metafile, root) {
  const folders = new Set(Object.keys(metafile.inputs).flatMap((it) => packageFolder(it) ?? []));
  return [...folders].map((it) => packageAt(it, root)).sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

/** The package that stands in a folder of `node_modules`. */
export function packageAt(folder, root) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const files = readdirSync(join(root, folder)).filter((it) => /^(licen[cs]e|copying|notice)/i.test(it));
  const texts = files.sort().map((it) => readFileSync(join(root, folder, it), "utf8").trim());
  const own = texts.length > 0 ? texts : [usualText(license, nameOf(author) ?? `The authors of ${name}`, root)];
  if (own.includes(null)) throw new Error(`${name} ${version} says ${license} and has no text of a licence with it`);
  return { folder, name, version, license, texts: own };
}

/** `node_modules/a`, or `node_modules/a/node_modules/@b/c`; null for a file of our own. */
function packageFolder(file) {
  return /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0] ?? null;
}

const idOf = ({ name, version }) => `${name} ${version}`;
const nameOf = (author) => (typeof author === "string" ? author.replace(/\s*[<(].*/, "") : author?.name);

/** What a package means that names its licence and leaves out the text. */
function usualText(license, author, root) {
  if (license === "MIT") return mit.replace("AUTHOR", author);
  return license === "Apache-2.0" ? readFileSync(join(root, "LICENSE"), "utf8").trim() : null;
}

const mit = `Copyright (c) AUTHOR

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE,
ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const line = `\n\n${"-".repeat(78)}\n\n`;

/** The text that goes along: `bundled` packages are part of our files, the one `beside` them stands in a file of its own. */
export function licensesText(bundled, { file, pkg }, root) {
  const gpl = readFileSync(join(root, ".ci/licenses/GPL-3.0.txt"), "utf8").trim();
  return `${[
    "Flotilla is licensed under the Apache License 2.0. Parts of the following packages are bundled with it.",
    ...bundled.map(entryOf),
    `${idOf(pkg)} (${pkg.license})

It is not bundled: Flotilla loads it from ${file}, which is the file that the package was published with, unchanged. You
may put another version in its place. Its source code is at https://github.com/openpgpjs/openpgpjs/tree/v${pkg.version}`,
    ...pkg.texts,
    gpl,
  ].join(line)}\n`;
}

const entryOf = (it) => `${idOf(it)} (${it.license})\n\n${it.texts.join("\n\n")}`;
