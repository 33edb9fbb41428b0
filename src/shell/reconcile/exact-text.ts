/** More than a trust file may be long, in bytes. */
export const maxTrustBytes = 256 * 1024;

/**
 * The text whose bytes are exactly these; null where they are no UTF-8, or more than {@link maxTrustBytes}. A mark of the
 * byte order stays: it is part of what was signed.
 */
export function exactText(bytes: Uint8Array): string | null {
  if (bytes.length > maxTrustBytes) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
