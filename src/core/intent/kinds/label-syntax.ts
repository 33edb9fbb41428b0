// The forms of names and labels that Kubernetes accepts.

/** `web-1`: 63 characters, lower case, no dots. */
export const isDnsLabel = (text: string): boolean => text.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text);

/** `web.example-1.com`: 253 characters, DNS labels of any length between dots. */
export const isDnsSubdomain = (text: string): boolean =>
  text.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(text);

/** `app.kubernetes.io/name`: a label key, also the key of a taint. */
export function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  if (slash >= 0 && !isDnsSubdomain(text.slice(0, slash))) return false;
  const name = text.slice(slash + 1);
  return name.length <= 63 && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(name);
}

/** A label value: empty, or 63 characters that begin and end with a letter or digit. */
export const isLabelValue = (text: string): boolean =>
  text.length <= 63 && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
