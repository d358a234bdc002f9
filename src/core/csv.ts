/** Reads and writes CSV by RFC 4180: fields in quotes, lines that end in LF or CR LF. */

/** A row with the number of its first line. */
interface CsvRow {
  line: number;
  fields: string[];
}

/** A mistake of a line. */
export interface CsvMistake {
  line: number;
  what: string;
  /** True: the header row is wrong, and no other row is read. */
  isHead?: true;
}

/** Returns the separator: comma, semicolon or tab, whichever comes first. */
function separatorOf(text: string): string {
  return /[,;\t\n]/.exec(text)?.[0].replace('\n', ',') ?? ',';
}

/** A field with the position after it, or the mistake in it. */
type Field = { text: string; end: number } | { what: string };

function fieldAt(text: string, at: number, separator: string): Field {
  if (text[at] !== '"') {
    let end = at;
    while (end < text.length && text[end] !== separator && text[end] !== '\n') end += 1;
    const whole = text.slice(at, end);
    const isLast = text[end] !== separator;
    const field = isLast && whole.endsWith('\r') ? whole.slice(0, -1) : whole;
    return field.includes('"') ? { what: 'a quote stands within a field' } : { text: field, end };
  }
  let field = '';
  for (let from = at + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote === -1) return { what: 'a quote is not closed' };
    field += text.slice(from, quote);
    if (text[quote + 1] !== '"') {
      const end = text.startsWith('\r\n', quote + 1) ? quote + 2 : quote + 1;
      const isEnd = end === text.length || text[end] === separator || text[end] === '\n';
      return isEnd ? { text: field, end } : { what: 'text follows a closing quote' };
    }
    field += '"';
    from = quote + 2;
  }
}

/** Yields the rows without empty lines; a mistake ends them. */
export function* csvRows(text: string): Generator<CsvRow | CsvMistake> {
  const separator = separatorOf(text);
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const row: CsvRow = { line, fields: [] };
    for (let isOver = false; !isOver; at += 1) {
      const field = fieldAt(text, at, separator);
      if ('what' in field) return yield { line, what: field.what };
      row.fields.push(field.text);
      line += text.slice(at, field.end).split('\n').length - 1;
      at = field.end;
      isOver = text[at] !== separator;
    }
    line += 1;
    if (row.fields.length > 1 || row.fields[0] !== '') yield row;
  }
}

/** First characters by which spreadsheets take a cell for a formula, also in their wide forms. */
const FORMULA = /^'*[=+\-@＝＋－＠\t\r]/;

/** Returns a text as a cell that no spreadsheet executes: puts an apostrophe before a formula. */
function cellOf(text: string): string {
  const inert = FORMULA.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

/** Returns the text of a cell that {@link cellOf} made. */
export function cellText(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/**
 * Returns a line of cells with its end.
 *
 * @example csvLine(['a', 'b,c', '=1+1', 3]) // 'a,"b,c",\'=1+1,3\r\n'
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => (typeof cell === 'number' ? cell : cellOf(cell))).join(',')}\r\n`;
}
