/** Finds the name that was probably meant by an unknown one. */

/** Longer names are compared with none. */
const LENGTH_MAX = 100;
/** The part of a name that may differ. */
const DIFFERENT_MAX = 0.45;
/** The length of a beginning that stands for the whole. */
const SHORT_LENGTH_MIN = 3;
/** How much the section counts: a key may stand in the wrong one. */
const SECTION_WEIGHT = 0.2;

/**
 * Returns the nearest of the known names; null: none is near.
 *
 * @example nearest('server.prot', ['server.host', 'server.port']) // 'server.port'
 * @example nearest('port', ['server.host', 'server.port']) // 'server.port'
 */
export function nearest(given: string, known: readonly string[]): string | null {
  if (given.length > LENGTH_MAX) return null;
  const scored = known.map((name) => ({ name, score: difference(given, name) }));
  const [best] = scored.sort((one, other) => one.score - other.score);
  return best !== undefined && best.score <= DIFFERENT_MAX ? best.name : null;
}

/** Returns what to add to the sentence about an unknown name; empty: no name is near. */
export function nearestText(given: string, known: readonly string[]): string {
  const name = nearest(given, known);
  return name === null ? '' : `; the nearest is ${name}`;
}

/** Returns 0 for the same name, more the more it differs. */
function difference(given: string, known: string): number {
  const [one, other] = [partsOf(given), partsOf(known)];
  return (
    partDifference(one.key, other.key) + SECTION_WEIGHT * partDifference(one.section, other.section)
  );
}

function partsOf(name: string) {
  const parts = name.toLowerCase().split('.');
  return { key: parts.pop() ?? '', section: parts.join('.') };
}

/** Returns 0 for the same text, 1 for one without a common letter. */
function partDifference(one: string, other: string): number {
  const part = stepsBetween(one, other) / Math.max(one.length, other.length, 1);
  const isShortened = one.length >= SHORT_LENGTH_MIN && other.startsWith(one);
  return isShortened ? Math.min(part, SECTION_WEIGHT) : part;
}

/** Counts the letters that are added, left out, replaced or exchanged with their neighbour. */
function stepsBetween(one: string, other: string): number {
  let [older, old]: [number[], number[]] = [
    [],
    Array.from({ length: other.length + 1 }, (_, n) => n),
  ];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      const isExchanged =
        i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row[j] = Math.min(
        at(old, j) + 1,
        at(row, j - 1) + 1,
        at(old, j - 1) + (isSame ? 0 : 1),
        isExchanged ? at(older, j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    [older, old] = [old, row];
  }
  return at(old, other.length);
}

const at = (row: readonly number[], index: number) => row[index] ?? Number.POSITIVE_INFINITY;
