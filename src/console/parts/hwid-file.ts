/** Files of HWIDs to name for a link: a text with one a line, or CSV with the column `hwid`. */

/** More are shown than a link can have, so that the server says what is too much. */
const SHOWN_MAX = 1_000;

/** Returns the rows of a CSV text. A mark of spreadsheets before a formula is no part of a cell. */
function rowsOf(text: string): string[][] {
  const separator = /[,;\t\n]/.exec(text)?.[0].replace('\n', ',') ?? ',';
  const cell = new RegExp(`("(?:[^"]|"")*"|[^${separator}\\n]*)(${separator}|\\n|$)`, 'gy');
  const rows: string[][] = [[]];
  for (const [, value = '', end] of text.matchAll(cell)) {
    const bare = value.replace(/^"|"$/g, '').replaceAll('""', '"').trim();
    rows.at(-1)?.push(bare.replace(/^'(?=[=+\-@])/, ''));
    if (end === '\n') rows.push([]);
    if (end === '') break;
  }
  return rows;
}

/**
 * Returns the HWIDs of a file. Without a header row each cell is one. Of a file with the column
 * `code`, as `gatepost link name --csv` takes it, those of the link with the code: who does not
 * see the code whole names none by such a file.
 */
export function hwidsOf(file: string, code: string): string[] {
  const rows = rowsOf(file.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'));
  const heads = rows[0]?.map((head) => head.toLowerCase()) ?? [];
  const [hwidAt, codeAt] = [heads.indexOf('hwid'), heads.indexOf('code')];
  const isOwn = (row: string[]) => codeAt === -1 || row[codeAt] === code;
  const found =
    hwidAt === -1
      ? rows.flat()
      : rows
          .slice(1)
          .filter(isOwn)
          .map((row) => row[hwidAt]);
  const hwids = found.filter((hwid) => hwid !== undefined && hwid !== '') as string[];
  return [...new Set(hwids)].slice(0, SHOWN_MAX);
}
