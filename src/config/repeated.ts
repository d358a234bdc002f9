/** A table or key that stands twice in the configuration file: where it stands first. */

import { type AST, parseTOML } from 'toml-eslint-parser';

/** The message of the parser for a repeated key or table. */
export const REPEATED = 'Defining a key multiple times is invalid';

/** A heading, or a key before its value. */
const HEAD = /^\s*(\[{1,2}([^\]]+)\]{1,2}|[^=]+?)\s*(?:=|#|$)/;

/** Returns a sentence for the table or key of `line`, which is a repetition; null: unclear. */
export function repetition(source: string, line: number): string | null {
  const lines = source.split(/\r?\n/);
  const [, head = '', table] = HEAD.exec(lines[line - 1] ?? '') ?? [];
  try {
    // The file is valid up to here.
    const [top] = parseTOML(lines.slice(0, line - 1).join('\n')).body;
    const last = top.body.findLast((entry) => entry.type === 'TOMLTable');
    const [key] = parseTOML(`${table ?? head} = 0`).body[0].body;
    const own = key?.type === 'TOMLKeyValue' ? namesOf(key.key) : [];
    const path = table === undefined && last ? [...namesOf(last.key), ...own] : own;
    const heads = headsIn(top);
    const same = heads.find((other) => other.path.join('\n') === path.join('\n'));
    const first = same ?? heads.find((other) => isInside(other, path));
    if (first === undefined) return null;
    return table === undefined
      ? `${path.join('.')} is set in line ${first.line} already: remove one of the two`
      : `${head} stands in line ${first.line} already: write its settings there, under one heading`;
  } catch {
    return null;
  }
}

interface Head {
  path: string[];
  line: number;
  isTable: boolean;
}

/** Lists the headings and keys of the file in their order. */
function headsIn(top: AST.TOMLTopLevelTable): Head[] {
  return top.body.flatMap((entry): Head[] => {
    const head = {
      path: namesOf(entry.key),
      line: entry.loc.start.line,
      isTable: entry.type === 'TOMLTable',
    };
    if (entry.type === 'TOMLKeyValue') return [head];
    const inside = entry.body.map((row) => ({
      path: [...head.path, ...namesOf(row.key)],
      line: row.loc.start.line,
      isTable: false,
    }));
    return [head, ...inside];
  });
}

const namesOf = (key: AST.TOMLKey) =>
  key.keys.map((part) => (part.type === 'TOMLBare' ? part.name : part.value));

/** Returns whether a key holds this path, or one of the path's own keys is set there. */
function isInside(head: Head, path: readonly string[]): boolean {
  const length = Math.min(head.path.length, path.length);
  const isRelated = head.path.slice(0, length).join('\n') === path.slice(0, length).join('\n');
  return isRelated && !(head.isTable && head.path.length < path.length);
}
