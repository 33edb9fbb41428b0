/** One line, and what belongs to it. */
export interface Branch {
  readonly text: string;
  readonly below: readonly Branch[];
}

export const leaf = (text: string): Branch => ({ text, below: [] });

/** A tree as lines: every branch under its own, with the lines that lead there. */
export const treeLines = ({ text, below }: Branch): readonly string[] => [text, ...forest(below)];

const forest = (branches: readonly Branch[]): readonly string[] =>
  branches.flatMap((it, at) => {
    const isLast = at === branches.length - 1;
    const [first = "", ...more] = treeLines(it);
    return [`${isLast ? "└─ " : "├─ "}${first}`, ...more.map((line) => `${isLast ? "   " : "│  "}${line}`)];
  });
