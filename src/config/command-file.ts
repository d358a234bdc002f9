/** The rule for settings that run a command: no other user may be able to change them. */

import { statSync } from 'node:fs';
import { dirname } from 'node:path';

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Returns a sentence for each reason why the command of `key` in `path` must not be run: the file,
 * or its folder, is of another user than root and that of the service, or others may write to it.
 */
export function commandFileProblems(key: string, path: string, dataDir: string): string[] {
  const own = process.getuid?.() ?? 0;
  const owners = new Set([0, own === 0 ? (statOf(dataDir)?.uid ?? 0) : own]);
  return [path, dirname(path)].flatMap((place) => {
    const stats = statOf(place);
    if (stats === null) return [];
    const refused = `${path}: ${key} is not run, because ${place}`;
    if (!owners.has(stats.uid)) {
      return [`${refused} belongs to user ${stats.uid}: run 'chown root ${place}'`];
    }
    const isShared = (stats.mode & WRITABLE_BY_OTHERS) !== 0;
    // In a folder such as /tmp others cannot replace the file.
    if (!isShared || (place !== path && (stats.mode & STICKY) !== 0)) return [];
    return [`${refused} may be written by other users: run 'chmod go-w ${place}'`];
  });
}

function statOf(path: string) {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}
