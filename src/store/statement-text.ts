/** The texts of statements. A value that each run fills in is there by name, as in `:hwid`. */

/** A quoted text, a given value as drizzle writes it (`?`, `$1`), or a named one; not a cast. */
const PARTS = /'[^']*'|\?|\$\d+|(?<!:):([a-z]\w*)/gi;

/** A text whose values are numbered: each has a name, or (null) was given. */
export interface StatementText {
  text: string;
  names: readonly (string | null)[];
  given: readonly unknown[];
}

/** Numbers the values of a statement from drizzle in their order, from 1. */
export function numberValues(
  { sql, params }: { sql: string; params: readonly unknown[] },
  signOf: (n: number) => string,
): StatementText {
  const names: (string | null)[] = [];
  const given: unknown[] = [];
  let givenCount = 0;
  const text = sql.replace(PARTS, (part: string, name: string | undefined) => {
    if (part.startsWith("'")) return part;
    names.push(name ?? null);
    given.push(name === undefined ? params[givenCount++] : null);
    return signOf(names.length);
  });
  return { text, names, given };
}
