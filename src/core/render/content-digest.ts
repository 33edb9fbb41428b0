import { digestOf } from "../model/json.ts";
import type { VersionedId } from "../model/manifest.ts";
import { remembered } from "../model/memo.ts";
import type { Digest } from "../model/value.ts";

/** Identity of an ordered list of manifests: which objects, in which order, and what each one says. */
export const contentDigest: (items: readonly { readonly id: VersionedId; readonly digest: Digest }[]) => Digest =
  remembered((items) =>
    digestOf(items.map(({ id, digest }) => [id.group, id.version, id.kind, id.namespace, id.name, digest])),
  );
