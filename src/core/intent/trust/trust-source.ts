import type { Problem } from "../../model/intent.ts";
import { remembered } from "../../model/memo.ts";
import type { TrustFile } from "../../model/trust.ts";
import { fileProblem, isTrustPath, isTrustSignature, maxTrustSignatures, type SourceFile } from "../source-file.ts";
import { readTrust, trustPath } from "./trust-file.ts";

/**
 * What the files of a commit say about who may approve, `trust/root.yaml`, and what is wrong with `trust/`.
 *
 * A file that cannot be used as a whole is there all the same, without a trust: every gate is closed by it. Whether it
 * may come into force is for `core/trust` to say. The same file (`===`) gives the same.
 */
export function trustIn(files: readonly SourceFile[]): {
  readonly trust: TrustFile | null;
  readonly problems: readonly Problem[];
} {
  const root = files.find((it) => it.path === trustPath);
  const isRootless = root === undefined && files.some((it) => isTrustPath(it.path));
  const { trust, problems } =
    root === undefined ? { trust: null, problems: isRootless ? [rootless] : [] } : rootIn(root);
  const signatures = files.filter(isTrustSignature).length;
  return { trust, problems: signatures > maxTrustSignatures ? [...problems, tooMany] : problems };
}

/** Read once for a file: a trust file is large, and the same from commit to commit. */
const rootIn = remembered((file: SourceFile): { trust: TrustFile; problems: readonly Problem[] } => {
  const text = file.kind === "file" ? (file.text ?? null) : null;
  if (text === null) return { trust: unusable(file), problems: [unreadable(file)] };
  const { trust, problems } = readTrust(text);
  return { trust: trust === null ? unusable(file) : { blob: file.blob, text, trust }, problems };
});

const unusable = ({ blob }: SourceFile): TrustFile => ({ blob, text: "", trust: null });

function unreadable({ kind }: SourceFile): Problem {
  switch (kind) {
    case "file":
      return fileProblem("error", "FLT1234", trustPath, ["the file is not UTF-8, or it is too large", restore]);
    case "link":
      return fileProblem("error", "FLT1101", trustPath, ["symbolic links are not followed", commitItself]);
    case "submodule":
      return fileProblem("error", "FLT1102", trustPath, ["submodules are not read", commitItself]);
  }
}

const commitItself = "commit the file itself; until then every gate is closed";

const restore = "restore the last version that was accepted; until then every gate is closed";

const rootless = fileProblem("error", "FLT1237", "trust/", [
  "trust/root.yaml, which says who may approve, is not there: every gate is closed, and no unsigned approval counts, for good",
  "write it with flotilla trust init, or restore the last version that was accepted",
]);

const tooMany = fileProblem("error", "FLT1238", "trust/sigs/", [
  `there are more than ${maxTrustSignatures} signatures here; those that come last by their names do not count`,
  "remove those of earlier versions",
]);
