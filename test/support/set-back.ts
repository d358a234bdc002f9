/** A machine's clock that a test sets back under a program, whatever that is written in. */

import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './process.ts';

const COMPILER = process.env['CC'] ?? 'gcc';

let library: string | null = null;

/** False: no clock is set back, for want of a compiler. */
export const CLOCKS_MOVE = Bun.which(COMPILER) !== null;
if (!CLOCKS_MOVE) console.warn(`Clocks are not set back: there is no ${COMPILER}.`);

/** Builds what stands before the C library; null: there is no compiler. */
function built(): string | null {
  if (!CLOCKS_MOVE) return null;
  if (library !== null) return library;
  library = join(temporaryFolder(), 'set-back.so');
  const source = join(import.meta.dir, 'set-back.c');
  const argv = [COMPILER, '-Wall', '-Wextra', '-Werror', '-O1', '-shared', '-fPIC', source];
  const { exitCode, stderr } = Bun.spawnSync([...argv, '-o', library, '-ldl']);
  if (exitCode !== 0) throw new Error(`set-back.c: ${stderr}`);
  return library;
}

export interface MovedClock {
  /** The environment of the programs that have this clock. */
  env: Record<string, string>;
  /** Sets it back at once, also under programs that run. */
  setBack(ms: number): void;
}

/** Makes a clock; `isSteadyToo`: the one that no machine sets back goes with it. */
export function movedClock(isSteadyToo = false): MovedClock {
  const preload = built();
  const file = join(temporaryFolder(), 'clock');
  let behindMs = 0;
  const bytes = () => new BigInt64Array([BigInt(-behindMs)]);
  writeFileSync(file, bytes());
  return {
    env:
      preload === null
        ? {}
        : {
            LD_PRELOAD: preload,
            TEST_CLOCK_FILE: file,
            ...(isSteadyToo && { TEST_CLOCK_STEADY: '1' }),
          },
    setBack: (ms) => {
      behindMs += ms;
      // In place: programs have it in their memory.
      const at = openSync(file, 'r+');
      writeSync(at, bytes(), 0, 8, 0);
      closeSync(at);
    },
  };
}
