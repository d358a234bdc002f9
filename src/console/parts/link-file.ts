/** Files of links in pieces, as the calls of the console read and write them. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import type { LinkFilter } from './link-query.ts';

export type ReadRow = Got<'links.csv-read'>['rows'][number];

/** The most characters and lines of a piece, besides the header row. */
const PIECE_LENGTH = 16_000;
const PIECE_LINES = 400;
/** The most bytes of a file. */
export const FILE_BYTES_MAX = 16 * 1024 * 1024;

interface Piece {
  text: string;
  /** Lines of the file before the piece; the repeated header row does not count. */
  linesBefore: number;
}

/** Splits a file between rows: a line break within quotes is part of its row. */
export function* piecesOf(file: string): Generator<Piece> {
  const text = file.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  let head: string | null = null;
  let piece = '';
  let lines = 0;
  let linesBefore = 0;
  let row = '';
  let isOpen = false;
  for (const line of text.split('\n')) {
    row += isOpen ? `\n${line}` : line;
    if (line.split('"').length % 2 === 0) isOpen = !isOpen;
    if (isOpen) continue;
    const count = row.split('\n').length;
    if (head === null) {
      head = row;
      linesBefore = 0;
    } else {
      const isFull = piece.length + row.length > PIECE_LENGTH - head.length || lines >= PIECE_LINES;
      if (isFull && piece !== '') {
        yield { text: `${head}\n${piece}`, linesBefore };
        linesBefore += lines;
        [piece, lines] = ['', 0];
      }
      piece += `${row}\n`;
      lines += count;
    }
    row = '';
  }
  if (isOpen) piece += row;
  if (head !== null || piece !== '') yield { text: `${head ?? ''}\n${piece}`, linesBefore };
}

/** Gives the browser a file to save. */
export function save(name: string, parts: readonly string[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([...parts], { type: 'text/plain;charset=utf-8' }));
  link.download = name;
  link.click();
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** Reads the file of the matching links piece by piece. Ends early when it is stopped. */
export async function writtenFile(
  at: string,
  filter: LinkFilter,
  onCount: (count: number) => void,
  signal: AbortSignal,
): Promise<string[]> {
  // Spreadsheets recognise UTF-8 by this mark.
  const parts = ['\uFEFF'];
  let count = 0;
  for (let beyondId: number | null = null; ; ) {
    const piece: Got<'links.csv'> = await call('links.csv', { at, filter, beyondId }, signal);
    parts.push(piece.text);
    count += piece.count;
    onCount(count);
    if (piece.nextId === null) return parts;
    beyondId = piece.nextId;
  }
}
