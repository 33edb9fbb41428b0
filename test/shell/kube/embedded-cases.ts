import { applying } from "./embedded-cases-apply.ts";
import { extending, listing, removing, writing } from "./embedded-cases-write.ts";
import type { Case } from "./embedded-requests.ts";

/** What a kube-apiserver is asked; what it answered stands in `embedded-truth.out`. */
export const cases: readonly Case[] = [...applying, ...writing, ...listing, ...removing, ...extending];
