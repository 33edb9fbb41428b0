import type { CascadedDeletion, ForeignObject } from "../model/deletion.ts";
import type { ObjectId } from "../model/manifest.ts";
import type { PlacementKey } from "../model/value.ts";
import { at, type Codec, converted, listIfAny, listOf, object } from "./codec/codec.ts";
import { clusterName, objectId, string, stringOf } from "./codec/scalars.ts";

const otherObject: Codec<ForeignObject> = converted(
  object<{ readonly object: ObjectId; readonly uid: string }>({ object: objectId, uid: string }),
  (it) => ({ object: it, uid: it.uid }),
  ({ object: id, uid }) => ({ ...id, uid }),
);

/** What of others goes along with what: left out where there is nothing. */
export const cascadedDeletions = listIfAny(
  object<CascadedDeletion>({
    placement: stringOf<PlacementKey>(),
    cluster: clusterName,
    id: at(["in"], objectId),
    objects: listOf(otherObject),
  }),
);
