import { error, type JsonPath, type Remark } from "../../yaml/remark.ts";

/** A setting that would be ignored silently is a danger, so it is refused until it works. */
export const notYet = (path: JsonPath, what = "is"): Remark =>
  error("FLT1901", path, `${what} not yet supported`, "leave it out until a later version supports it");
