import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Programs } from "./assets.ts";
import type { Kubeconfig } from "./kubeconfig.ts";

/** Where kubectl is, and a folder in which it may leave its caches. */
interface Place {
  readonly programs: Programs;
  readonly folder: string;
}

/** Runs kubectl with a kubeconfig and gives what it printed; rejects with what it complained about. */
export async function kubectl(place: Place, config: Kubeconfig, args: readonly string[], input = ""): Promise<string> {
  const home = join(place.folder, "kubectl");
  await mkdir(home, { recursive: true });
  const file = join(home, `${randomUUID()}.json`);
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const options = { env: { PATH: process.env["PATH"], HOME: home }, maxBuffer: 64 << 20 };
  return new Promise((resolve, reject) => {
    const whole = [`--kubeconfig=${file}`, ...args];
    const child = execFile(place.programs.kubectl, whole, options, (error, stdout, stderr) => {
      if (error) reject(new Error(`kubectl ${args.join(" ")}: ${stderr.trim() || error.message}`));
      else resolve(stdout);
    });
    // kubectl need not read it all.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
