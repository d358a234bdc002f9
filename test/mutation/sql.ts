/** Mistakes in a piece of SQL. Holes of a template and texts must be masked by letters. */

import type { Change } from './plant.ts';

/** Where a condition begins. `BETWEEN a AND b` has no condition behind its AND. */
const BEFORE_CONDITION = /\b(?:WHERE|AND|OR|ON|HAVING|FILTER|WHEN)\b|\bCHECK\s*\(/gi;
/** The end of a condition that stands outside of parentheses. */
const AFTER_CONDITION = new RegExp(
  [
    '^(?:AND|OR|ORDER|GROUP|LIMIT|RETURNING|WHERE|UNION|EXCEPT|THEN|HAVING|FOR|DO|BEGIN|SET',
    '(?:LEFT |CROSS |INNER )?JOIN)\\b',
  ].join('|'),
  'i',
);
const WORDS: readonly (readonly [pattern: RegExp, other: string])[] = [
  [/(?<=\s)<(?=\s)/g, '<='],
  [/(?<=\s)<=(?=\s)/g, '<'],
  [/(?<=\s)>(?=\s)/g, '>='],
  [/(?<=\s)>=(?=\s)/g, '>'],
  [/\bDESC\b/g, 'ASC'],
  [/\bASC\b/g, 'DESC'],
  [/\bIS NULL\b/g, 'IS NOT NULL'],
  [/\bIS NOT NULL\b/g, 'IS NULL'],
];

/** Returns the changes that can be made in SQL: their places are those in the text. */
export function changesInSql(text: string): Change[] {
  const found = WORDS.flatMap(([pattern, replacement]) =>
    [...text.matchAll(pattern)].map(
      ({ index: from, 0: word }): Change => ({
        kind: /SC$/.test(word) ? 'SQL: order' : 'SQL: comparison',
        from,
        to: from + word.length,
        replacement,
      }),
    ),
  );
  for (const { index, 0: word } of text.matchAll(BEFORE_CONDITION)) {
    const after = index + word.length;
    const from = after + text.slice(after).search(/\S|$/);
    const to = endOfCondition(text, from);
    const isRange = word === 'AND' && /\bBETWEEN\s+\S+\s+$/i.test(text.slice(0, index));
    if (from === to || isRange || /^(?:CONFLICT|DELETE|UPDATE|INSERT)\b/.test(text.slice(from))) {
      continue;
    }
    const kind = word.startsWith('CHECK') ? 'SQL: half of a CHECK' : 'SQL: condition';
    found.push({ kind, from, to, replacement: word === 'OR' ? 'false' : 'true' });
  }
  return found.filter(({ from, to, replacement }) => text.slice(from, to) !== replacement);
}

function endOfCondition(text: string, from: number): number {
  let depth = 0;
  let end = from;
  for (let at = from; at < text.length; at++) {
    const letter = text.charAt(at);
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (depth < 0 || (depth === 0 && /[;,]/.test(letter))) break;
    const isWord = depth === 0 && /\W/.test(text.charAt(at - 1));
    if (isWord && at > from && AFTER_CONDITION.test(text.slice(at, at + 12))) {
      // The AND of a range belongs to it.
      if (!/^AND\b/i.test(text.slice(at)) || !/\bBETWEEN\s+\S+\s+$/i.test(text.slice(from, at))) {
        break;
      }
    }
    if (/\S/.test(letter)) end = at + 1;
  }
  return end;
}
