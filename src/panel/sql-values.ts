/** Reads names and values in the statements of dumps. */

export type Value = string | null;

export const unquoted = (name: string) => name.trim().replace(/^[`"]|[`"]$/g, '');
export const namesIn = (list: string) => list.split(',').map(unquoted);

const COPIED: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Reads a value of COPY. */
export function copied(text: string): Value {
  if (text === '\\N') return null;
  return text.includes('\\')
    ? text.replace(/\\(.)/gs, (_, letter: string) => COPIED[letter] ?? letter)
    : text;
}

/** Returns the position after the quoted text that begins at `at`; null: it does not end. */
function endOfQuotes(text: string, at: number, hasEscapes: boolean): number | null {
  const quote = text[at];
  for (let next = at + 1; next < text.length; next++) {
    if (hasEscapes && text[next] === '\\') next += 1;
    else if (text[next] === quote) {
      if (text[next + 1] !== quote) return next + 1;
      next += 1;
    }
  }
  return null;
}

/** Returns the position after the parentheses that begin at `at`; null: they do not end. */
export function endOfParens(text: string, at: number, isMysql: boolean): number | null {
  let depth = 0;
  for (let next = at; next < text.length; next++) {
    const sign = text[next];
    if (sign === "'" || sign === '"' || sign === '`') {
      const isEscaped = sign === "'" && (isMysql || /E/i.test(text[next - 1] ?? ''));
      const end = endOfQuotes(text, next, isEscaped);
      if (end === null) return null;
      next = end - 1;
    } else if (sign === '(') depth += 1;
    else if (sign === ')' && --depth === 0) return next + 1;
  }
  return null;
}

/** Splits at commas outside of quotes and parentheses. */
export function parts(text: string, isMysql: boolean): string[] {
  const found: string[] = [];
  let begin = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? '';
    if (sign === ',') {
      found.push(text.slice(begin, at));
      begin = at + 1;
    } else if (sign === '(') at = (endOfParens(text, at, isMysql) ?? text.length) - 1;
    else if ('\'"`'.includes(sign)) {
      const isEscaped = sign === "'" && (isMysql || /E/i.test(text[at - 1] ?? ''));
      at = (endOfQuotes(text, at, isEscaped) ?? text.length) - 1;
    }
  }
  found.push(text.slice(begin));
  return found;
}

export function readTuple(
  text: string,
  at: number,
  isMysql: boolean,
): { values: Value[]; end: number } | null {
  const end = endOfParens(text, at, isMysql);
  if (end === null) return null;
  return {
    values: parts(text.slice(at + 1, end - 1), isMysql).map((part) => valueIn(part, isMysql)),
    end,
  };
}

const ESCAPED: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  0: '\0',
  Z: '\x1a',
};

/** Reads a value: a text in quotes, perhaps within a cast or a call, or a bare word. */
function valueIn(written: string, isMysql: boolean): Value {
  const word = written.trim();
  const quoteAt = word.indexOf("'");
  if (quoteAt < 0) return /^null$/i.test(word) ? null : word;
  const hasEscapes = isMysql || /E/i.test(word[quoteAt - 1] ?? '');
  const end = endOfQuotes(word, quoteAt, hasEscapes) ?? word.length;
  const text = word.slice(quoteAt + 1, end - 1);
  const read = hasEscapes
    ? text.replace(/\\(.)|''/gs, (_, letter?: string) =>
        letter === undefined ? "'" : (ESCAPED[letter] ?? letter),
      )
    : text.replaceAll("''", "'");
  // SQLite writes line breaks this way.
  return /^replace\(/i.test(word) ? read.replaceAll('\\n', '\n').replaceAll('\\r', '\r') : read;
}
