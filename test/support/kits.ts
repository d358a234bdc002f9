/** The kits for devices of sdk/, each by the driver that an app's developer would build. */

import { join } from 'node:path';
import { ROOT } from './process.ts';

export interface Kit {
  name: string;
  /** What the machine must have. */
  needs: readonly string[];
  /** Builds the driver into a folder, and returns its command. */
  build(folder: string): string[];
  /** True: the app gives the kit its time, which need not be a steady one. */
  takesTime: boolean;
}

function make(script: string, ...given: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([join(ROOT, script), ...given]);
  if (exitCode !== 0) throw new Error(`${script} failed:\n${stderr}`);
}

/** Starts a program in Java soon: its classes follow. */
export const JAVA = [
  ...['java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx64m', '-cp'],
];

const ALL: readonly Kit[] = [
  {
    ...{ name: 'typescript', needs: [], takesTime: false },
    build: () => [process.execPath, join(ROOT, 'sdk/typescript/driver.ts')],
  },
  {
    ...{ name: 'c', needs: [process.env['CC'] ?? 'gcc'], takesTime: true },
    build(folder) {
      make('sdk/c/build.sh', folder, 'plain');
      return [join(folder, 'driver')];
    },
  },
  {
    ...{ name: 'java', needs: ['javac', 'jar', 'java'], takesTime: false },
    build(folder) {
      make('sdk/java/build.sh', folder);
      const classes = `${join(folder, 'gatepost-device.jar')}:${join(folder, 'tools')}`;
      return [...JAVA, classes, 'org.gatepost.device.Driver'];
    },
  },
];

/** The kits that can be built here; of the others a line is written. */
export const kitsHere = (): Kit[] =>
  ALL.filter(({ name, needs }) => {
    const missing = needs.filter((program) => Bun.which(program) === null);
    if (missing.length > 0) console.warn(`Kit ${name} is skipped: there is no ${missing}.`);
    return missing.length === 0;
  });
