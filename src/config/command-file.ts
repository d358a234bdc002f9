/** The rule for settings that run a command: no other user may be able to change them. */

import { dirname } from 'node:path';
import { foreignHand, statOf } from '../base/permissions.ts';

const STICKY = 0o1000;

/**
 * Returns a sentence for each reason why the command of `key` in `path` must not be run: the file,
 * or its folder, is of another user than root and that of the service, or others may write to it.
 */
export function commandFileProblems(key: string, path: string, dataDir: string): string[] {
  const own = process.getuid?.() ?? 0;
  const service = own === 0 ? (statOf(dataDir)?.uid ?? 0) : own;
  const owners = service === 0 ? [0] : [0, service];
  return [path, dirname(path)].flatMap((place) => {
    const stats = statOf(place);
    // In a folder such as /tmp others cannot replace the file.
    const isShared = stats?.isDirectory() && (stats.mode & STICKY) !== 0 && stats.uid === 0;
    const problem = stats === null || isShared ? null : foreignHand(place, stats, owners);
    return problem === null ? [] : [`${key} is not run: ${problem}`];
  });
}
