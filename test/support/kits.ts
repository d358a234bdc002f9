/** The kits for devices of sdk/, each by the driver that an app's developer would build. */

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './process.ts';

export interface Kit {
  name: string;
  /** What the machine must have. */
  needs: readonly string[];
  /** Builds the driver, and returns its command. */
  build(): string[];
  /** True: the app gives the kit its time, which need not be a steady one. */
  takesTime: boolean;
}

/** Options of a virtual machine that lives for seconds: half the time of the processor. */
export const SHORT_LIVED = ['-Xshare:auto', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
/** A compiler that lives so. */
export const JAVAC = ['javac', ...SHORT_LIVED.map((option) => `-J${option}`)];

/** For the scripts, whose compilers the developer may name. */
const ENV: Record<string, string | undefined> = { JAVAC: JAVAC.join(' '), ...process.env };

/** In a shell: builds into the folder $1 by the script $3, unless its key is already $2. */
const BUILD = `[ "$(cat "$1/key" 2>/dev/null)" = "$2" ] && exit
  rm -rf "$1" && "$3" "$1" && echo "$2" >"$1/key"`;

/**
 * Builds a kit as an app's developer does, once for its sources: files that run beside each other
 * share what was built. Returns the folder.
 */
export function buildKit(name: 'c' | 'dart' | 'go' | 'java' | 'rust' | 'swift'): string {
  const [folder, sources] = [join(ROOT, 'dist/kits', name), join(ROOT, 'sdk', name)];
  const key = new Bun.CryptoHasher('sha256');
  for (const compiler of ['CC', 'JAVAC', 'JAR']) key.update(`${compiler}=${ENV[compiler]}\n`);
  for (const each of readdirSync(sources, { recursive: true, withFileTypes: true })) {
    if (each.isFile()) key.update(readFileSync(join(each.parentPath, each.name)));
  }
  mkdirSync(folder, { recursive: true });
  const command = ['sh', '-c', BUILD, 'sh', folder, key.digest('hex'), join(sources, 'build.sh')];
  const { exitCode, stderr } = Bun.spawnSync(['flock', `${folder}.lock`, ...command], { env: ENV });
  if (exitCode !== 0) throw new Error(`sdk/${name}/build.sh failed:\n${stderr}`);
  return folder;
}

/** The interpreter of the kit in Python, with its library. */
export const PYTHON = join(ROOT, '.bootstrap/python/bin/python');

/** Returns whether the kit in Go can be built: its one library comes with `make kit-tools`. */
export function hasGo(): boolean {
  goIsHere ??= Bun.which('go') !== null && listsKit();
  if (!goIsHere) console.warn('Kit go is skipped: there is no Go with its library.');
  return goIsHere;
}
let goIsHere: boolean | undefined;

function listsKit(): boolean {
  const env = { ...process.env, GOFLAGS: '-mod=readonly', GOPROXY: 'off' };
  const words = ['go', 'list', '-deps', './...'];
  return Bun.spawnSync(words, { cwd: join(ROOT, 'sdk/go'), env }).exitCode === 0;
}

/** Returns whether the kit in Rust can be built: its crates come with `make kit-tools`. */
export function hasRust(): boolean {
  rustIsHere ??= Bun.spawnSync(['sh', '-c', LISTS_CRATES], { cwd: join(ROOT, 'sdk/rust') }).success;
  if (!rustIsHere) console.warn('Kit rust is skipped: there is no cargo with its crates.');
  return rustIsHere;
}
let rustIsHere: boolean | undefined;

/** In a shell: rustup's folder need not be on the path. */
const LISTS_CRATES =
  'PATH=$PATH:$HOME/.cargo/bin && exec cargo tree --offline --locked >/dev/null 2>&1';

/** Starts a program in Java soon: its classes follow. */
export const JAVA = ['java', ...SHORT_LIVED, '-Xmx64m', '-cp'];

/** The classes of the kit in Java, of its driver and of its sample, where it was built. */
export const classesIn = (folder: string) =>
  `${join(folder, 'gatepost-device.jar')}:${join(folder, 'tools')}`;

const ALL: readonly Kit[] = [
  {
    name: 'typescript',
    needs: [],
    takesTime: false,
    build: () => [process.execPath, join(ROOT, 'sdk/typescript/driver.ts')],
  },
  {
    name: 'c',
    needs: [process.env['CC'] ?? 'gcc'],
    takesTime: true,
    build: () => [join(buildKit('c'), 'driver')],
  },
  {
    name: 'go',
    needs: hasGo() ? [] : ['go'],
    takesTime: false,
    build: () => [join(buildKit('go'), 'driver')],
  },
  {
    name: 'python',
    needs: [PYTHON],
    takesTime: false,
    build: () => [PYTHON, join(ROOT, 'sdk/python/driver.py')],
  },
  {
    name: 'rust',
    needs: hasRust() ? [] : ['cargo'],
    takesTime: false,
    build: () => [join(buildKit('rust'), 'driver')],
  },
  {
    name: 'java',
    needs: ['javac', 'jar', 'java'],
    takesTime: false,
    build: () => [...JAVA, classesIn(buildKit('java')), 'org.gatepost.device.Driver'],
  },
];

/** The kits that can be built here; of the others a line is written. */
export const kitsHere = (): Kit[] =>
  ALL.filter(({ name, needs }) => {
    const missing = needs.filter((program) => Bun.which(program) === null);
    if (missing.length > 0) console.warn(`Kit ${name} is skipped: there is no ${missing}.`);
    return missing.length === 0;
  });
