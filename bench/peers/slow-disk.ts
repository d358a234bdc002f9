import { join } from 'node:path';

/** Makes the environment of a process that waits longer for each sync of its disk. */
export function slowDisk(folder: string, pauseMs: number): Record<string, string> {
  const library = join(folder, 'slow-fsync.so');
  const source = join(import.meta.dir, 'slow-fsync.c');
  const pause = `-DPAUSE_NS=${Math.round(pauseMs * 1e6)}`;
  const flags = ['-O2', '-Wall', '-Werror', '-shared', '-fPIC', pause];
  const build = Bun.spawnSync(['cc', ...flags, '-o', library, source, '-ldl']);
  if (build.exitCode !== 0) throw new Error(build.stderr.toString());
  return { LD_PRELOAD: library };
}
