/**
 * Notes of refused sign-ins at panels, for all processes that share a data directory: panels ban
 * who tries on. A note has the path of a file, the URL of an API and a time; no name, no password.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { giveToOwnerOfFolder, statOf } from '../../base/permissions.ts';

const FILE = 'gatepost.sign-ins';
/** The most notes: more than the settings may name. */
const NOTES_MAX = 128;

export interface SignInNotes {
  /** Returns whether an account was refused there since its file changed. */
  isRefused(accountFile: string, url: string): boolean;
  note(accountFile: string, url: string): void;
}

/** Keeps the notes in a data directory, and in memory for a disk that takes none. */
export function notesIn(dataDir: string | null): SignInNotes {
  let memory: Readonly<Record<string, number>> = {};
  const path = dataDir === null ? null : `${dataDir}/${FILE}`;
  const read = () => (path === null ? memory : { ...memory, ...keptIn(path) });
  return {
    isRefused: (file, url) => read()[nameOf(file, url)] === changedAtMs(file),
    note(file, url) {
      const { [nameOf(file, url)]: _, ...others } = read();
      const newest = Object.entries(others).slice(1 - NOTES_MAX);
      memory = Object.fromEntries([...newest, [nameOf(file, url), changedAtMs(file)]]);
      if (path === null) return;
      try {
        writeFileSync(path, JSON.stringify(memory), { mode: 0o600 });
        giveToOwnerOfFolder(path);
      } catch {
        // On a full or read-only disk, which the doctor reports.
      }
    },
  };
}

const nameOf = (file: string, url: string): string => `${file}\n${url}`;

/** Returns the time of the last change of a file, ms; 0: there is none. */
const changedAtMs = (file: string): number => statOf(file)?.mtimeMs ?? 0;

function keptIn(path: string): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
