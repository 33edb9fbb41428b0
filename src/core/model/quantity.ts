/**
 * A Kubernetes quantity (`resource.Quantity`), exactly as its own code reads it (`schedule/README.md#quantities`).
 *
 * Its values are whole billionths: what is finer is rounded away from zero when it is read.
 */
export interface Quantity {
  readonly nanos: bigint;
  /**
   * The value as KubeFleet computes with it: digits and a power of ten, which depend on how the quantity is written
   * (`schedule/README.md#a-31`).
   */
  readonly approximate: number;
}

/** No fleet has more of anything; a larger exponent would make numbers that fill the memory. */
const largestExponent = 400;

/** Characters of one quantity. */
const longest = 400;

const decimalSuffixes: ReadonlyMap<string, number> = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);

const binarySuffixes: ReadonlyMap<string, number> = new Map([
  ["Ki", 10],
  ["Mi", 20],
  ["Gi", 30],
  ["Ti", 40],
  ["Pi", 50],
  ["Ei", 60],
]);

const maxInt64 = 2n ** 63n - 1n;

/** What a suffix multiplies by: a power of ten or of two. */
interface Scale {
  readonly base: 2 | 10;
  readonly exponent: number;
}

/**
 * Reads a quantity: sign, digits, fraction, suffix or exponent; null for any other text, for exponents beyond ±400, and
 * for more than 400 characters. Digits may be missing altogether, as in Kubernetes: `.`, `-` and `k` are 0.
 */
export function quantityOf(text: string): Quantity | null {
  const parts = text === "" || text.length > longest ? null : form.exec(text);
  if (parts === null) return null;
  const [, sign = "", digits = "", fraction = "", suffix = ""] = parts;
  const scale = scaleOf(suffix);
  if (scale === null) return null;
  const found = shortQuantity(digits, fraction, scale) ?? longQuantity(digits, fraction, scale);
  if (sign !== "-" || found.nanos === 0n) return found;
  return { nanos: -found.nanos, approximate: -found.approximate };
}

const form = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$/;

function scaleOf(suffix: string): Scale | null {
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal };
  const binary = binarySuffixes.get(suffix);
  if (binary !== undefined) return { base: 2, exponent: binary };
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) <= largestExponent ? { base: 10, exponent } : null;
}

/** Digits that fit into an int64 are kept as they are written, and so is their power of ten. */
function shortQuantity(digits: string, fraction: string, { base, exponent }: Scale): Quantity | null {
  const whole = digits.replace(/^0+/, "") || "0";
  const room =
    base === 10
      ? 18 - whole.length - fraction.length
      : fraction === ""
        ? 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1
        : -1;
  const power = (base === 10 ? exponent : 0) - fraction.length;
  if (room < 0 || power < -9) return null;
  const mantissa = BigInt(whole + fraction) * (base === 2 ? 2n ** BigInt(exponent) : 1n);
  return mantissa > maxInt64 ? null : { nanos: mantissa * tenTo(power + 9), approximate: float(mantissa, power) };
}

/** All others are rounded to billionths, which become their digits; those with a binary suffix end at 2⁶³ − 1. */
function longQuantity(digits: string, fraction: string, { base, exponent }: Scale): Quantity {
  const power = (base === 10 ? exponent : 0) - fraction.length + 9;
  const unscaled = BigInt(`0${digits}${fraction}`) * (base === 2 ? 2n ** BigInt(exponent) : 1n);
  const nanos = power >= 0 ? unscaled * tenTo(power) : roundedUp(unscaled, tenTo(-power));
  if (base === 2 && nanos > maxInt64 * tenTo(9)) return { nanos: maxInt64 * tenTo(9), approximate: Number(maxInt64) };
  return { nanos, approximate: float(nanos, -9) };
}

const roundedUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by;

const tenTo = (exponent: number): bigint => 10n ** BigInt(exponent);

/** One multiplication, by the power of ten that Go's tables give. */
const float = (digits: bigint, exponent: number): number =>
  exponent === 0 ? Number(digits) : Number(digits) * powerOfTen(exponent);

function powerOfTen(exponent: number): number {
  if (exponent > 308) return Number.POSITIVE_INFINITY;
  const rest = exponent < 0 ? exponent : exponent % 32;
  return Number(`1e${exponent - rest}`) * Number(`1e${rest}`);
}
