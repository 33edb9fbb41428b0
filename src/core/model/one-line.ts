/**
 * The text on one line, without control characters and without those that turn the direction of what follows.
 *
 * What members and servers say ends up in commit messages and on terminals. There a second line could pass for one of
 * ours (a trailer, a command to a GitHub runner), and an escape sequence could rewrite what was said before.
 */
export const oneLine = (text: string): string =>
  text
    .replace(/\s*[\r\n\u2028\u2029]+\s*/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
