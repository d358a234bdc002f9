/**
 * A file of HWIDs to name: CSV whose first row has the columns `code`, of a link, and `hwid`. Other
 * columns are ignored, and a link may have several rows.
 */

import { type CsvMistake, cellText, csvRows } from './csv.ts';
import { readInstallCode } from './formats.ts';
import { NAMED_PER_CALL, readNamedHwid } from './named-hwid.ts';
import { isRefused } from './outcome.ts';

/** A HWID of the file, and the code of its link. */
export interface NamedRow {
  line: number;
  installCode: string;
  hwid: string;
}

/** Yields the HWIDs of a text and its mistakes by line. */
export function* namedHwidRows(text: string): Generator<NamedRow | CsvMistake> {
  let columns: { code: number; hwid: number } | null = null;
  const counts = new Map<string, number>();
  for (const row of csvRows(text)) {
    if ('what' in row) yield row;
    else if (columns === null) {
      const names = row.fields.map((field) => field.trim().toLowerCase());
      columns = { code: names.indexOf('code'), hwid: names.indexOf('hwid') };
      if (columns.code === -1 || columns.hwid === -1) {
        return yield {
          line: row.line,
          what: 'the first row must name code and hwid',
          isHead: true,
        };
      }
    } else {
      const { line, fields } = row;
      const installCode = readInstallCode(cellText(fields[columns.code] ?? '').trim());
      const hwid = readNamedHwid(cellText(fields[columns.hwid] ?? '').trim());
      if (isRefused(installCode)) yield { line, what: `code: ${installCode.detail}` };
      else if (isRefused(hwid)) yield { line, what: `${hwid.detail}` };
      else {
        const count = (counts.get(installCode) ?? 0) + 1;
        counts.set(installCode, count);
        if (count <= NAMED_PER_CALL) yield { line, installCode, hwid };
        else yield { line, what: `the link has more than ${NAMED_PER_CALL} HWIDs` };
      }
    }
  }
  if (columns === null) yield { line: 1, what: 'the file is empty', isHead: true };
}
