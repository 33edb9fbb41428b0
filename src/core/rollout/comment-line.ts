const longest = 256;

/** What somebody commented: people write as much as they like, on as many lines; of it, one line is kept. */
export const commentLine = (comment: string): string =>
  [...comment.replaceAll(/[\p{C}\s]+/gu, " ").trim()].slice(0, longest).join("");
