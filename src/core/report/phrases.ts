import { firstOf } from "../model/value.ts";

/** Up to eight names, then how many more. */
export const someNames = (all: readonly string[]): string => firstOf(all, 8);

export const quantity = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
