/**
 * The text on one line, without control characters and those that turn text around: what members and servers say must
 * not pass for a trailer or a command of ours, nor rewrite what was said before.
 */
export const oneLine = (text: string): string =>
  text
    .replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
