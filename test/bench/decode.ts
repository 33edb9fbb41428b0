import { existsSync, readFileSync } from "node:fs";
import { decodeBlob } from "../../src/core/intent/documents.ts";
import { heavyTexts, largeTexts } from "../core/yaml/heavy-texts.ts";

// Reads one text, which it is sent by name, and says what that cost. A process of its own: memory is its peak.

const mebibyte = 1024 * 1024;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
// What is compiled and loaded first is no matter of the text.
const usual = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata:\n";
for (let at = 0; at < 200; at += 1) decodeBlob(bytesOf(`${usual}  a: "b"\n  c: &d e\n  n${at}: on\n`));

/** Milliseconds that this thread had a core, which no other process prolongs; of all threads where Linux is not. */
function onCore(): number {
  if (existsSync(schedule)) return Number(readFileSync(schedule, "utf8").split(" ", 1)[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const schedule = "/proc/thread-self/schedstat";

process.once("message", (name: string) => {
  const bytes = bytesOf(heavyTexts.get(name) ?? largeTexts.get(name) ?? "");
  const before = process.resourceUsage().maxRSS;
  const spent = onCore();
  const from = performance.now();
  const { documents, tokens } = decodeBlob(bytes);
  const cpu = onCore() - spent;
  const took = performance.now() - from;
  const refused = documents.some((it) => it.problems.some(({ severity }) => severity === "error"));
  const memory = ((process.resourceUsage().maxRSS - before) * 1024) / mebibyte;
  process.send?.({ name, refused, took, cpu, memory, tokens });
});
