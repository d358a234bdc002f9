/** Imports a file of `gatepost export`: reads all of it before it stores anything. */

import { statSync } from 'node:fs';
import { OperatorError } from '../base/operator-error.ts';
import { counted } from '../core/counted.ts';
import {
  type ExportCounts,
  type ExportLine,
  LINE_BOUNDS,
  readLine,
} from '../core/moving/export-lines.ts';
import type { Mover, Newcomer } from '../core/moving/import.ts';
import { isRefused } from '../core/outcome.ts';
import type { ImportedDomain, ImportedLink } from '../core/port/moving.ts';
import { nextTurn } from '../core/turn.ts';

/** The most rows in memory; the mover divides them among commits. */
const ROWS_MAX = 500;

/** Yields the lines in order. Throws {@link OperatorError} with the number of an invalid one. */
async function* read(path: string): AsyncGenerator<ExportLine> {
  let number = 0;
  let isOver = false;
  for await (const text of linesOf(path, LINE_BOUNDS.bytesMax)) {
    number += 1;
    const line = readLine(text);
    const wrong = (what: string) => new OperatorError(`${path}: line ${number}: ${what}`);
    if (isRefused(line)) throw wrong(line.detail);
    if ((line.kind === 'provider') !== (number === 1)) {
      throw wrong('a file has one provider, in its first line');
    }
    if (isOver) throw wrong('it follows the end');
    if (line.kind === 'end') isOver = true;
    yield line;
  }
  if (!isOver) throw new OperatorError(`${path} is truncated after line ${number}: no last line`);
}

/** The contents of a file: its provider, its counts, and its highest ids. */
interface Contents {
  newcomer: Newcomer;
  counts: ExportCounts;
  highest: { installId: number; domainId: number };
}

/** Reads the whole file. Throws {@link OperatorError} when it is stopped before the end. */
export async function readContents(path: string, isStopped: () => boolean): Promise<Contents> {
  const found: ExportCounts = { installs: 0, slots: 0, domains: 0 };
  const highest = { installId: 0, domainId: 0 };
  let newcomer: Newcomer | null = null;
  let counts: ExportCounts | null = null;
  for await (const line of read(path)) {
    if (isStopped()) throw new OperatorError(`stopped while reading ${path}`, 'interrupted');
    if (line.kind === 'provider') newcomer = line.provider;
    if (line.kind === 'end') counts = line.counts;
    if (line.kind === 'domain') {
      found.domains += 1;
      highest.domainId = Math.max(highest.domainId, line.domain.id ?? 0);
    }
    if (line.kind === 'install') {
      found.installs += 1;
      found.slots += line.install.slots.length;
      highest.installId = Math.max(highest.installId, line.install.id ?? 0);
    }
  }
  if (newcomer === null || counts === null) throw new OperatorError(`${path} has no provider`);
  if (!Bun.deepEquals(found, counts)) {
    throw new OperatorError(
      `${path} has ${inWords(found)}, but its last line says ${inWords(counts)}`,
    );
  }
  return { newcomer, counts, highest };
}

function inWords({ installs, slots, domains }: ExportCounts): string {
  return `${counted(installs, 'link')}, ${counted(slots, 'HWID')} and ${counted(domains, 'domain')}`;
}

/** Stores the records of the file; existing ones stay. After an interruption it can run again. */
export async function storeFile(
  path: string,
  mover: Mover,
  highest: Contents['highest'],
  { isStopped, onStep }: { isStopped(): boolean; onStep(): void },
): Promise<void> {
  await mover.core.store.reserveIds(highest);
  let domains: ImportedDomain[] = [];
  let installs: ImportedLink[] = [];
  let rows = 0;
  const flush = async () => {
    await mover.domains(domains);
    await mover.installs(installs);
    domains = [];
    installs = [];
    rows = 0;
    onStep();
    await nextTurn();
  };
  for await (const line of read(path)) {
    if (isStopped()) return;
    if (line.kind === 'domain') domains.push(line.domain);
    if (line.kind === 'install') installs.push(line.install);
    rows += line.kind === 'install' ? 1 + line.install.slots.length : 1;
    if (rows >= ROWS_MAX) await flush();
  }
  await flush();
}

/**
 * Yields the lines of a UTF-8 file, none longer than `lengthMax` UTF-16 units, without loading the
 * file into memory. Throws {@link OperatorError}, also for a pipe, as the file is read twice.
 */
async function* linesOf(path: string, lengthMax: number): AsyncGenerator<string> {
  refuseOthers(path);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  let number = 0;
  try {
    for await (const chunk of Bun.file(path).stream()) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        number += 1;
        yield line;
      }
      if (rest.length > lengthMax) {
        throw new OperatorError(`${path}: line ${number + 1} is too long`);
      }
    }
    rest += decoder.decode();
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    if (error instanceof TypeError) {
      throw new OperatorError(`${path}: invalid UTF-8 in or after line ${number + 1}`);
    }
    throw unreadable(path, error);
  }
  if (rest !== '') yield rest;
}

function refuseOthers(path: string): void {
  let isFile: boolean;
  try {
    isFile = path !== '-' && statSync(path).isFile();
  } catch (error) {
    throw unreadable(path, error);
  }
  if (!isFile) {
    throw new OperatorError(`${path} must be a regular file, because it is read twice`);
  }
}

function unreadable(path: string, error: unknown): OperatorError {
  return new OperatorError(`cannot read ${path}: ${(error as Error).message}`);
}
