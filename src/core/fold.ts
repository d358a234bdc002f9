/**
 * Letters that a search takes for one: those that differ by case, in each script, and those that
 * keyboards and languages write differently. Other marks on letters count.
 */

/** Alike besides their case; the first stands for all. */
const ALIKE = [
  // Persian and Arabic keyboards, and how each language writes a word of the other.
  ['\u06CC', '\u064A', '\u0649'],
  ['\u06A9', '\u0643'],
  ['\u0647', '\u0629', '\u06C0'],
  ['\u0627', '\u0622', '\u0623', '\u0625'],
  ['е', 'ё'],
  ['i', '\u0130', '\u0131'],
  // Between the parts of a word a Persian keyboard has a character of no width.
  [' ', '\u00A0', '\u200C'],
  ...Array.from('0123456789', (digit, n) => [
    digit,
    String.fromCharCode(0x0660 + n),
    String.fromCharCode(0x06f0 + n),
  ]),
];

/**
 * The characters that may have others alike: letters with cases, Arabic, and wide letters and
 * digits. No mark of a pattern is among them with another: see `partPattern` of the store.
 */
const RANGES = [
  [0x20, 0x24f],
  [0x370, 0x587],
  [0x600, 0x6ff],
  [0x10a0, 0x10ff],
  [0x1e00, 0x1fff],
  [0xff10, 0xff19],
  [0xff21, 0xff3a],
  [0xff41, 0xff5a],
] as const;

const FIRST_OF = new Map(ALIKE.flatMap(([first = '', ...more]) => more.map((one) => [one, first])));

/** Returns the character that stands for all that are alike. */
function stands(character: string): string {
  // Wide forms of Chinese keyboards.
  const narrow = /[\uFF10-\uFF5A]/.test(character) ? character.normalize('NFKC') : character;
  const known = FIRST_OF.get(narrow);
  if (known !== undefined) return known;
  const small = narrow.toLowerCase();
  // A final sigma, or a case of two characters.
  const one = small === 'ς' ? 'σ' : small.length === narrow.length ? small : narrow;
  return FIRST_OF.get(one) ?? one;
}

let alike: ReadonlyMap<string, readonly string[]> | null = null;

function alikeOf(): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  for (const [from, to] of RANGES) {
    for (let code = from; code <= to; code++) {
      const character = String.fromCharCode(code);
      const first = stands(character);
      const known = all.get(first);
      if (known === undefined) all.set(first, [character]);
      else known.push(character);
    }
  }
  for (const [first = '', ...more] of ALIKE)
    all.set(first, [...new Set([...(all.get(first) ?? [first]), ...more])]);
  return all;
}

/**
 * Returns a text in which all that is alike is the same.
 *
 * @example folded('МАРИЯ Ёлка ۱۲') // 'мария елка 12'
 */
export const folded = (text: string): string =>
  /^[\0-\x7f]*$/.test(text)
    ? text.toLowerCase()
    : Array.from(text.normalize('NFC'), stands).join('');

/**
 * Returns for each character of a text all that are alike.
 *
 * @example alternatives('я1') // [['Я', 'я'], ['1', '\u0661', '\u06F1', '\uFF11']]
 */
export function alternatives(text: string): (readonly string[])[] {
  alike ??= alikeOf();
  const known = alike;
  return Array.from(folded(text), (character) => known.get(character) ?? [character]);
}
