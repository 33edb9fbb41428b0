import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claimFolder } from "../../../src/shell/git/iso/mirror-folder.ts";
import { temporaryFolder } from "./hub.ts";

describe("a claimed folder", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  const host = hostname().replace(/[^A-Za-z0-9.]/g, "_");
  const leave = (name: string): void => {
    mkdirSync(`${folder.path}/${name}`);
    writeFileSync(`${folder.path}/${name}/name`, name);
  };

  test("is never shared", async () => {
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimFolder(folder.path, "x")));
    expect(new Set(claims.map((it) => it.path)).size).toBe(8);
  });

  test("is taken over once it was released, by one of many", async () => {
    const first = await claimFolder(folder.path, "x");
    writeFileSync(`${first.path}/kept`, "");
    await first.release();
    const next = await Promise.all(Array.from({ length: 4 }, () => claimFolder(folder.path, "x")));
    expect(next.filter((it) => readdirSync(it.path).includes("kept")).length).toBe(1);
  });

  test("is taken over from a process that died, and what more the dead left is removed", async () => {
    // Larger than any process id that Linux gives.
    for (const name of [`x-${host}-99999999-a`, `x-${host}-99999999-b`]) leave(name);
    const claim = await claimFolder(folder.path, "x");
    expect(readdirSync(claim.path)).toEqual(["name"]);
    expect(readdirSync(folder.path).length).toBe(1);
  });

  test("is taken over from a process that had our own id, as every process in a container has", async () => {
    leave(`x-${host}-${process.pid}-before`);
    const claim = await claimFolder(folder.path, "x");
    expect(readdirSync(claim.path)).toEqual(["name"]);
  });

  test("stays with the living, with other machines and with other repositories", async () => {
    const others = [`x-${host}-${process.ppid}-a`, `x-${host}-1-a`, "x-elsewhere-99999999-a", "y-free-a"];
    for (const name of others) leave(name);
    const claim = await claimFolder(folder.path, "x");
    expect(readdirSync(claim.path)).toEqual([]);
    expect(readdirSync(folder.path)).toEqual(expect.arrayContaining(others));
  });
});
