/**
 * A set of fields in the form in which `managedFields[].fieldsV1` carries it (KEP-555): `f:name` a member of an object,
 * `k:{…}` an item of a list by its keys, `v:…` an item of a set. A node is itself in the set when it is empty or holds `.`.
 *
 * What is stored is what is computed with: no decoding, no encoding.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** The empty set; as a node, a field with nothing below it. */
const noFields: FieldSet = {};

const self = ".";

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether a node of a set stands for a field of its own, not only for the way to fields below. */
const isMember = (node: FieldSet): boolean => node[self] !== undefined || isEmpty(node);

function below(node: FieldSet): FieldSet {
  if (node[self] === undefined) return node;
  const { [self]: _, ...children } = node;
  return children;
}

/** A node from its two facts; null when it would be nothing at all. */
export function nodeOf(member: boolean, children: FieldSet): FieldSet | null {
  if (isEmpty(children)) return member ? noFields : null;
  return member ? { [self]: noFields, ...children } : children;
}

/** The fields of either set. A set to which nothing is added is given back as it is. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const out: Record<string, FieldSet> = { ...a };
  for (const [element, node] of Object.entries(b)) {
    const other = a[element];
    const both = other === undefined ? node : unionOfNodes(other, node);
    out[element] = both;
  }
  return out;
}

const unionOfNodes = (a: FieldSet, b: FieldSet): FieldSet =>
  a === b ? a : (nodeOf(isMember(a) || isMember(b), union(below(a), below(b))) ?? noFields);

/** The fields of `a` that `b` does not name. A field of `b` takes only itself away, not what lies below it. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return noFields;
  const out: Record<string, FieldSet> = {};
  for (const [element, node] of Object.entries(a)) {
    const other = b[element];
    const rest =
      other === undefined ? node : nodeOf(isMember(node) && !isMember(other), difference(below(node), below(other)));
    if (rest !== null) out[element] = rest;
  }
  return out;
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: Record<string, FieldSet> = {};
  for (const [element, node] of Object.entries(a)) {
    const other = b[element];
    if (other === undefined) continue;
    const both = nodeOf(isMember(node) && isMember(other), intersection(below(node), below(other)));
    if (both !== null) out[element] = both;
  }
  return out;
}

export const hasField = (set: FieldSet, element: string): boolean => {
  const node = set[element];
  return node !== undefined && isMember(node);
};

/** The fields below an element, itself not counted. */
export const fieldsBelow = (set: FieldSet, element: string): FieldSet => below(set[element] ?? noFields);

/** Every field of the set as Kubernetes writes paths in a conflict: `.spec.containers[name="web"].image`; sorted as it sorts. */
export function pathsOf(set: FieldSet, prefix = ""): readonly string[] {
  const elements = Object.keys(set)
    .filter((it) => it !== self)
    .sort();
  const own = elements.filter((it) => hasField(set, it)).map((it) => prefix + pathElement(it));
  const deeper = elements.flatMap((it) => pathsOf(fieldsBelow(set, it), prefix + pathElement(it)));
  return [...own, ...deeper];
}

function pathElement(element: string): string {
  const rest = element.slice(2);
  if (element.startsWith("f:")) return `.${rest}`;
  if (element.startsWith("v:")) return `[=${rest}]`;
  if (!element.startsWith("k:")) return `[${rest}]`;
  const keys = Object.entries(JSON.parse(rest) as Record<string, unknown>);
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(",")}]`;
}

/** A leaf: a field, with nothing below it. */
export const leafField: FieldSet = noFields;

/** Sets that were stored, by their text: owners of a thousand objects that are alike share one. */
const stored = new Map<string, FieldSet>();
const known = new WeakSet<FieldSet>();
const mostStored = 20_000;

/** The very same set for equal sets, as far as they are remembered. */
export function internedFieldSet(set: FieldSet): FieldSet {
  if (known.has(set)) return set;
  const text = JSON.stringify(set);
  const there = stored.get(text);
  if (there !== undefined) return there;
  if (stored.size >= mostStored) stored.clear();
  stored.set(text, set);
  known.add(set);
  return set;
}
