import type { Denial } from "../model/trust.ts";

/** Why core/trust says no (`trust/README.md#bad-inputs`). A meaning never moves to another code. */
export const denialCodes = {
  FLT1201: "it answers no open request",
  FLT1202: "nobody's key",
  FLT1203: "a key or certificate that is revoked, expired or not yet valid",
  FLT1204: "somebody else's signature",
  FLT1205: "four eyes: the one who approves changed it themselves",
  FLT1206: "too few different people",
  FLT1207: "a commit that does more than add approvals of one person",
  FLT1208: "a merge that brings an approval of its own",
  FLT1209: "no person's signature",
  FLT1210: "a signature made for something else",
  FLT1211: "an approval that was changed, or put there again",
  FLT1212: "an approval that was taken away, and what says the same without a new signature",
  FLT1214: "somebody who may not approve this stage",
  FLT1215: "an answer that comes too late",
  FLT1216: "a trust file that has expired",
  FLT1217: "a signature that does not verify",
  FLT1218: "a machine's approval",
  FLT1219: "a way to approve that is not accepted here",
  FLT1220: "a trust file that does not follow the version in force",
  FLT1221: "a trust file that is missing or cannot be used",
  FLT1222: "a trust file that too few roots signed",
  FLT1225: "a trust file that expires too late, or has already",
  FLT1235: "a trust file that nothing out of band vouches for",
  FLT1236: "a commit that changes trust/ and something else",
  FLT1240: "no denial: a forge that could not be asked yet",
} as const;

export type DenialCode = keyof typeof denialCodes;

/** A denial. `because` also says what to do. */
export const denied = (code: DenialCode, because: string): Denial => ({ kind: "denied", code, because });
