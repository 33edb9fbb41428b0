import { randomBytes } from "node:crypto";

/**
 * 32 bytes from the system's source of randomness, in hexadecimal digits: where nonces come from
 * (`trust/README.md#t-04`).
 */
export const systemEntropy = (): string => randomBytes(32).toString("hex");
