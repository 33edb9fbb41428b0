import { digestOf } from "../../model/json.ts";
import type { World } from "../../model/plan.ts";

/** 32 hexadecimal digits that nobody could know before this pass, others for every `subject`. */
export const nonceOf = ({ entropy }: Pick<World, "entropy">, subject: readonly string[]): string =>
  digestOf([entropy, ...subject]).slice(0, 32);
