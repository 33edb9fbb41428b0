import { applying } from "./cases-apply.ts";
import { extending, listing, removing, writing } from "./cases-write.ts";
import type { Case } from "./requests.ts";

/** What a kube-apiserver is asked; what it answered stands in `embedded-truth.out`. */
export const cases: readonly Case[] = [...applying, ...writing, ...listing, ...removing, ...extending];
