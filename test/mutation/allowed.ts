/** Mistakes that a test cannot notice, by file and text, with the reason. */

interface Allowed {
  /** Part of the path of a file. */
  file: string;
  /** A pattern of the changed text and its replacement: `before → after`. */
  text: RegExp;
  reason: string;
}

export const ALLOWED: readonly Allowed[] = [
  {
    file: 'src/',
    text: /^(?:if \(.*\) )?throw new Error\(/,
    reason: 'a fault of the program itself, which no test can bring about',
  },
  {
    file: 'src/',
    text: /^if \([\w.]+\.(?:length|size) === 0\) \{? ?(?:return|continue)\b/,
    reason: 'a shortcut: nothing comes out of nothing without it too',
  },
  {
    file: 'src/',
    text: /^(?:strict|readwrite): true/,
    reason: 'an option of bun:sqlite under which no statement of the program does otherwise',
  },
];

export function isAllowed(file: string, text: string): boolean {
  return ALLOWED.some((allowed) => file.includes(allowed.file) && allowed.text.test(text));
}
