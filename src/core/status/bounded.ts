// Status is committed to Git for every cluster; a message is for reading, the whole story stands in `explain`.
const limit = 512;

/**
 * A message cut to what a status may hold (`status/README.md#bounds`), never in the middle of a
 * character.
 */
export const bounded = (text: string): string =>
  // The last of them may be half a character.
  text.length <= limit ? text : `${[...text.slice(0, limit)].slice(0, -1).join("")}…`;
