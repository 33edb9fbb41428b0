import { type ObjectId, type ObjectKey, objectKey, type SourcePosition, type VersionedId } from "../model/manifest.ts";
import type { BlobId, Commit } from "../model/value.ts";
import type { Remark } from "../yaml/remark.ts";
import type { DecodedDocument } from "./documents.ts";
import type { Content } from "./kinds/content.ts";

/** A document that says which object it is. */
export interface Claim {
  /** Of `id`, made once: every step of reading looks it up. */
  readonly key: ObjectKey;
  readonly id: VersionedId;
  /** Null when it cannot be used. */
  readonly content: Content | null;
  readonly source: SourcePosition;
  readonly blob: BlobId;
  readonly document: DecodedDocument;
}

/** What an object is, by the document that is in force for it. */
export interface Version extends Claim {
  readonly content: Content;
  /** The source commit in which the document was last accepted. */
  readonly commit: Commit;
  /** In force although the commit that is read says something else, or nothing that can be read. */
  readonly isHeld: boolean;
}

export type Versions = ReadonlyMap<ObjectKey, Version>;

/** Something that came out only when documents were compared with each other or with what was accepted. */
export interface Complaint {
  readonly claim: Pick<Claim, "source" | "document">;
  readonly remark: Remark;
}

export const keyOf = ({ group, kind, namespace, name }: ObjectId): ObjectKey =>
  objectKey({ group, kind, namespace, name });

/** `clusters/a.yaml:12` */
export const placeText = ({ path, line }: SourcePosition): string => `${path}:${line}`;
