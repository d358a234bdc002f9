/** The package of the kit for TypeScript, unpacked as npm does, with the driver beside it. */

import { test } from 'bun:test';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Driven } from '../kits/driven.ts';
import { ROOT, temporaryFolder } from './process.ts';

export const KIT = join(ROOT, 'sdk/typescript');

export const NODE = Bun.which('node');
if (NODE === null) console.warn('The kit for TypeScript is not tried in Node: there is no node.');

/** `test` if there is a Node. */
export const testNode = test.skipIf(NODE === null);

export interface InstalledKit {
  folder: string;
  /** The files of the package. */
  package: string;
  archive: string;
  /** Scripts that any runtime takes. */
  driver: string;
  sample: string;
}

/** Packs the kit by `packaging/kits.sh`, and installs it in a new folder. */
export function installKit(): InstalledKit {
  const folder = temporaryFolder();
  const made = Bun.spawnSync(['packaging/kits.sh', folder, 'typescript'], { cwd: ROOT });
  if (made.exitCode !== 0) throw new Error(`packaging/kits.sh failed:\n${made.stderr}`);
  const { version } = JSON.parse(readFileSync(join(KIT, 'package.json'), 'utf8'));
  const archive = join(folder, `gatepost-device-${version}.tgz`);
  const installed = join(folder, 'node_modules/gatepost-device');
  mkdirSync(installed, { recursive: true });
  Bun.spawnSync(['tar', '-xzf', archive, '-C', installed, '--strip-components=1']);
  // As `npm init` and `npm install` write it; Deno reads it.
  const dependencies = { 'gatepost-device': `file:${archive}` };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'commonjs', dependencies }));
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  const script = (name: string) => {
    const source = readFileSync(join(KIT, `${name}.ts`), 'utf8');
    const path = join(folder, `${name}.mjs`);
    const imports = source.replace("'./src/index.ts'", "'gatepost-device'");
    writeFileSync(path, transpiler.transformSync(imports));
    return path;
  };
  return {
    folder,
    package: installed,
    archive,
    driver: script('driver'),
    sample: script('sample'),
  };
}

/** The package in Node, driven as the other kits. */
export function nodeDriven(): Driven {
  const { driver, sample } = installKit();
  return {
    pace: 0.1,
    driver: [NODE ?? '', driver],
    sample: [NODE ?? '', sample],
    sampleState: 'device.json',
    stateIn: (folder) =>
      JSON.parse(readFileSync(join(folder, 'device.json'), 'utf8')).state ?? '{}',
  };
}
