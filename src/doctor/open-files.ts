/** Checks the limit of open files: that of the running server, else of its unit or this shell. */

import { readdirSync, readFileSync } from 'node:fs';
import { about, type Finding } from '../base/finding.ts';

/** Files and sockets besides the streams. */
const OTHER_DESCRIPTORS = 256;
/** Where a package or an administrator puts the unit and its drop-ins; the last has precedence. */
const UNIT_FOLDERS = ['/usr/lib/systemd/system', '/etc/systemd/system'];
const UNIT = 'gatepost.service';

/** Returns the text of the installed unit with its drop-ins; null: none is installed. */
export const unitText = (root = ''): string | null =>
  readUnit(UNIT_FOLDERS.map((folder) => `${root}${folder}`))?.text ?? null;

/** Returns whether a unit of systemd starts the server on this machine. */
export const hasUnit = (root = ''): boolean => unitText(root) !== null;

/**
 * Checks the limit of open files of the server's process, else of the installed unit, else of this
 * shell. `root`: where the file system begins.
 */
export function checkDescriptors(pid: number | null, streamCountMax: number, root = ''): Finding[] {
  if (pid !== null) {
    return compareDescriptors(`the server (process ${pid})`, limitOfProcess(pid), streamCountMax);
  }
  const unit = readUnit(UNIT_FOLDERS.map((folder) => `${root}${folder}`));
  if (unit === null) {
    return compareDescriptors('a process started from here', limitOfProcess(null), streamCountMax);
  }
  const limits = unit.text.matchAll(/^LimitNOFILE=(?:\d+:)?(\d+|infinity)/gm);
  const limit = [...limits].at(-1)?.[1];
  return compareDescriptors(`a server started by ${unit.path}`, limit, streamCountMax);
}

/** Compares a limit of open files with the need; undefined: the limit is unknown. */
export function compareDescriptors(
  who: string,
  limit: string | undefined,
  streamCountMax: number,
): Finding[] {
  if (limit === undefined) return [];
  const say = about('open files');
  const need = streamCountMax + OTHER_DESCRIPTORS;
  const what = `${who} may open ${limit} files`;
  if (!(Number(limit) < need)) return [say.ok(what)];
  return [
    say.warning(
      'open_files_too_few',
      `${what}, limits.streams_max would need ${need}`,
      `raise it (ulimit -n ${need}; LimitNOFILE=${need} in the systemd unit) or lower the setting`,
    ),
  ];
}

/** Reads the limit of open files of a process; null: of this one. */
function limitOfProcess(pid: number | null): string | undefined {
  return /^Max open files\s+(\d+|unlimited)/m.exec(read(`/proc/${pid ?? 'self'}/limits`))?.[1];
}

/** Reads the unit and then its drop-ins by name, as systemd does; null: none is installed. */
function readUnit(folders: readonly string[]): { path: string; text: string } | null {
  const paths = folders.map((folder) => `${folder}/${UNIT}`);
  const unit = paths.map((path) => ({ path, text: read(path) })).findLast(({ text }) => text);
  if (unit === undefined) return null;
  const dropIns = new Map<string, string>();
  for (const folder of folders.map((one) => `${one}/${UNIT}.d`)) {
    for (const name of namesIn(folder).filter((one) => one.endsWith('.conf'))) {
      dropIns.set(name, read(`${folder}/${name}`));
    }
  }
  const names = [...dropIns.keys()].sort();
  const texts = [unit.text, ...names.map((name) => dropIns.get(name))];
  return { path: unit.path, text: texts.join('\n') };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
