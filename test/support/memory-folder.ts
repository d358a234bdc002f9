import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** The file system in memory that every Linux has; a container may have little of it. */
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 3 * 1024 ** 3;

/**
 * Makes a folder in memory for the files of tests, or returns null if there is not enough room. To
 * wait for a disk proves nothing: tests kill processes, not machines.
 */
export function memoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < MEMORY_BYTES_MIN) return null;
    const folder = mkdtempSync(join(MEMORY, 'gatepost-test-'));
    // As /tmp: a PostgreSQL that runs as another user has, and removes, a folder of its own in it.
    chmodSync(folder, 0o1777);
    return folder;
  } catch {
    return null;
  }
}
