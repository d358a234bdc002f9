/**
 * The files of the console's page: embedded in the executable, and from source those of
 * `make build`. `packaging/console.ts` makes them.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const PACKED = /^([\w.-]+)\.br$/;
const BUILT = join(import.meta.dir, '..', '..', 'dist', 'console');

/** Returns the files by name, in Brotli; none if they were not built. */
export function consoleFiles(): Map<string, Blob> {
  const embedded = Bun.embeddedFiles as readonly (Blob & { name: string })[];
  const all = embedded.length > 0 ? embedded : onDisk();
  return new Map(
    all.flatMap((file): [string, Blob][] => {
      const name = PACKED.exec(file.name.slice(file.name.lastIndexOf('/') + 1))?.[1];
      return name === undefined ? [] : [[name, file]];
    }),
  );
}

function onDisk(): (Blob & { name: string })[] {
  try {
    return readdirSync(BUILT).map((name) => Object.assign(Bun.file(join(BUILT, name)), { name }));
  } catch {
    return [];
  }
}
