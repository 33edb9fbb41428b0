/** Powers of ten of the decimal suffixes, largest first. */
const decimals: readonly (readonly [string, number])[] = [
  ["E", 18],
  ["P", 15],
  ["T", 12],
  ["G", 9],
  ["M", 6],
  ["k", 3],
  ["", 0],
  ["m", -3],
  ["u", -6],
  ["n", -9],
];

const binaries = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const form = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE][+-]?\d{1,3})|([KMGTPE]i|[numkMGTPE]))?$/;

/** A nanounit: nothing smaller can be said. */
const nano = 9;

/**
 * A quantity as Kubernetes writes it back: `1000m` is `1`, `1024Mi` is `1Gi`, `0.5` is `500m`. Null for what is no quantity.
 *
 * Suffixes keep their family; a binary one below 1024 becomes decimal (apimachinery's `Quantity.CanonicalizeBytes`).
 */
export function canonicalQuantity(text: string): string | null {
  const match = form.exec(text.trim());
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "", suffix = ""] = match;
  if (whole === "" && fraction === "") return null;
  const nanos = nanosOf(whole, fraction, exponent, suffix);
  if (nanos === null) return null;
  const minus = sign === "-" && nanos !== 0n ? "-" : "";
  const unit = 10n ** BigInt(nano);
  if (suffix.endsWith("i") && nanos % unit === 0n && nanos / unit >= 1024n) return minus + binaryText(nanos / unit);
  return minus + (exponent === "" ? decimalText(nanos) : exponentText(nanos));
}

function nanosOf(whole: string, fraction: string, exponent: string, suffix: string): bigint | null {
  const binary = suffix.endsWith("i") ? binaries.indexOf(suffix) : 0;
  const power = exponent === "" ? (decimals.find(([it]) => it === suffix)?.[1] ?? 0) : Number(exponent.slice(1));
  const scale = nano + power - fraction.length;
  const digits = BigInt(whole + fraction || "0") * 1024n ** BigInt(binary);
  if (scale >= 0) return scale > 60 ? null : digits * 10n ** BigInt(scale);
  // Below a nanounit Kubernetes rounds up.
  const divisor = 10n ** BigInt(-scale);
  return (digits + divisor - 1n) / divisor;
}

function decimalText(nanos: bigint): string {
  if (nanos === 0n) return "0";
  for (const [suffix, power] of decimals) {
    const unit = 10n ** BigInt(nano + power);
    if (nanos % unit === 0n) return `${nanos / unit}${suffix}`;
  }
  return `${nanos}n`;
}

function exponentText(nanos: bigint): string {
  const text = decimalText(nanos);
  const suffix = /[a-zA-Z]$/.exec(text)?.[0] ?? "";
  const power = decimals.find(([it]) => it === suffix)?.[1] ?? 0;
  return power === 0 ? text : `${text.slice(0, -1)}e${power}`;
}

function binaryText(bytes: bigint): string {
  let rest = bytes;
  let at = 0;
  while (at < binaries.length - 1 && rest % 1024n === 0n) {
    rest /= 1024n;
    at++;
  }
  return `${rest}${binaries[at]}`;
}
