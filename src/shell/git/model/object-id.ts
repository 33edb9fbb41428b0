/**
 * Whether a text names an object by its full SHA-1, and can be nothing else: no option, no revision, no second line.
 *
 * Ids reach git from the record too, which whoever may write the state branch could have written.
 */
export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text);
