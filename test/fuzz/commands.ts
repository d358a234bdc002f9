/** Every command and option with values that are right, odd and wrong, on data of its own. */

import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandTree, type Value } from '../../packaging/command-tree.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { settingRows } from '../../src/config/settings/index.ts';
import { binary, lookedAt, plainEnv } from '../support/process.ts';
import type { Random } from '../support/random.ts';
import { type Campaign, within } from './campaign.ts';
import { anyText, spoiltBytes, spoiltText } from './grammar.ts';
import { invariantProblems } from './invariants.ts';

/** Commands that run until they are told to end, or for as long as another server makes them. */
const LASTING = /^(?:serve|device simulate|import|conformance)$/;
/** How long those may run before they are told, ms: on a busy machine a start takes half of it. */
const RUN_MS = 3_000;
/** How long anything may take on a busy machine, and an end after its signal, ms. */
const DEADLINE_MS = 30_000;
/** Commands on one data directory before a fresh copy of it. */
const COMMANDS_PER_COPY = 25;

/** Nothing is run: only names are read. */
const tree = commandTree(buildProgram({} as Parameters<typeof buildProgram>[0])).filter(
  ({ children }) => children.length === 0,
);

export interface Files {
  /** A folder of the fuzzer's own, with `data`, `one.backup`, `secret.backup`, `one.jsonl`. */
  folder: string;
  backup: Uint8Array;
  encrypted: Uint8Array;
  /** What `export` writes. */
  exported: string;
  /** What `config --example` writes. */
  configuration: string;
  /** Codes, HWIDs and numbers that are there. */
  words: readonly string[];
  /** A server of the provider API that answers badly. */
  source: string;
}

interface Words {
  argv: string[];
  env: Record<string, string>;
  stdin: string;
}

export interface Ended {
  code: number | null;
  signal: string | number | null;
  stdout: string;
  stderr: string;
  /** It did not end in time, although it was told to. */
  hangs: boolean;
}

/** Runs the executable to its end; tells it to end after `runMs`. */
export async function runBounded(
  { argv, env, stdin }: Words,
  cwd: string,
  runMs: number,
): Promise<Ended> {
  const child = Bun.spawn([binary(), ...argv], {
    cwd,
    env: plainEnv({ HOME: cwd, ...env }),
    stdin: Buffer.from(stdin),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const texts = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const isLasting = runMs < DEADLINE_MS;
  let hangs = (await within(runMs, child.exited)) === null;
  if (hangs && isLasting) {
    child.kill('SIGINT');
    hangs = (await within(DEADLINE_MS, child.exited)) === null;
  }
  if (hangs) child.kill('SIGKILL');
  await child.exited;
  const [stdout, stderr] = await texts;
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr, hangs };
}

export class CommandGrammar {
  constructor(readonly files: Files) {}

  next(random: Random): Words & { path: string } {
    const facts = random.pick(tree);
    const path = facts.path.join(' ');
    const argv = [...facts.path];
    for (const value of facts.args) if (random.chance(0.93)) argv.push(this.#value(random, value));
    for (const option of facts.options) {
      if (option.names.includes('--help') ? !random.chance(0.01) : !random.chance(0.3)) continue;
      // Data are the fuzzer's own, whatever else is given.
      if (option.names.includes('--data') || option.names.includes('--host')) continue;
      argv.push(random.pick(option.names));
      if (option.value === null || random.chance(0.02)) continue;
      argv.push(this.#optionValue(random, path, option.names, option.value));
    }
    if (random.chance(0.03)) argv.splice(random.int(0, argv.length), 0, anyArgument(random));
    if (random.chance(0.03)) argv.splice(random.int(0, argv.length - 1), 1);
    argv.push('--data', join(this.files.folder, random.chance(0.95) ? 'data' : 'new'));
    if (path === 'serve' && !argv.includes('--port')) argv.push('--port', '0');
    const stdin = random.pick(['', 'yes\n', 'secret\n', 'y', anyText(random)]);
    return { path, argv, env: this.#env(random), stdin };
  }

  #optionValue(random: Random, path: string, names: readonly string[], value: Value): string {
    if (names.includes('--from') || names.includes('--url')) {
      return random.pick([this.files.source, this.files.source, 'http://127.0.0.1:1', 'x:y', '']);
    }
    if (names.includes('--port')) return random.pick(['0', '-1', '65536', 'x', '']);
    // Thousands of devices would teach nothing more.
    if (path === 'device simulate' && names.includes('--count')) return String(random.int(-1, 5));
    return this.#value(random, value);
  }

  #value(random: Random, value: Value): string {
    if (typeof value === 'object' && random.chance(0.9)) return random.pick(value.words);
    if (value === 'directory' || value === 'file') return this.#file(random);
    const roll = random.next();
    if (roll < 0.5) return random.pick(this.files.words);
    if (roll < 0.8) return random.pick(ARGUMENTS);
    return anyArgument(random);
  }

  #file(random: Random): string {
    const names = [
      'one.backup',
      'secret.backup',
      'one.jsonl',
      'secret',
      'out',
      'none/none',
      'data',
    ];
    return random.pick([...names, '-', '/dev/null', '.', '', anyArgument(random)]);
  }

  #env(random: Random): Record<string, string> {
    const env: Record<string, string> = {};
    while (random.chance(0.15)) {
      const [, row] = random.pick(settingRows);
      if (!row.env || NEVER_SET.test(row.env)) continue;
      const value = random.chance(0.7) ? random.pick(ARGUMENTS) : anyArgument(random);
      env[row.env] = value;
    }
    return env;
  }
}

/** What would have the fuzzer touch what is not its own: data, addresses, authorities, hooks. */
const NEVER_SET = /_(?:DATA|CONFIG|HOST|ACME_.*|PORT)$/;

const ARGUMENTS = [
  ...['0', '1', '-1', '100', '1.5', '1e3', '999999999999999', 'NaN', 'default', 'never', 'off'],
  ...['2026-02-30', '2099-12-31', '24h', '0s', '9999999d', '+03:00', '+99:99', '1-5', '5-1', 'x'],
  ...['basic', 'pro', 'enterprise', 'ios', 'windows', 'yes', '--', '-', '', ' ', '*', '%s', 'a b'],
  ...['k'.repeat(32), 'C'.repeat(8), 'a'.repeat(64), 'a'.repeat(70_000), 'Имя', '\u001b[31m', '\n'],
];

/** No NUL: the kernel ends an argument with it. */
function anyArgument(random: Random): string {
  return anyText(random).replaceAll('\0', '').slice(0, 5_000);
}

/** A program that ends as documented says so in a sentence, never in a trace. */
export function commandProblem({ code, signal, stdout, stderr, hangs }: Ended): string | null {
  if (hangs) return `did not end within ${DEADLINE_MS} ms`;
  if (code === null) return `ended by ${signal}`;
  if (![0, 1, 2, 130].includes(code)) return `exit code ${code}: ${stderr.slice(0, 600)}`;
  const trace = /^ +at .*:\d+|\b(?:Type|Reference|Range|Syntax|SQLite)Error\b|panic|\bfault\b/m;
  if (trace.test(stderr)) return `a trace: ${stderr.slice(0, 1_500)}`;
  if (code !== 0 && stderr.trim() === '' && stdout.trim() === '') return `exit ${code} in silence`;
  return null;
}

/** Runs commands and reads files, one at a time, until the campaign is over. */
export async function fuzzCommands(
  campaign: Campaign,
  files: Files,
  pause: (tookMs: number) => Promise<void>,
): Promise<void> {
  const grammar = new CommandGrammar(files);
  const pristine = join(files.folder, 'pristine');
  const data = join(files.folder, 'data');
  for (let count = 0; !campaign.isOver; count++) {
    if (count % COMMANDS_PER_COPY === 0) {
      rmSync(data, { recursive: true, force: true });
      cpSync(pristine, data, { recursive: true });
    }
    const startMs = performance.now();
    const isFile = count % 3 === 2;
    const surface = isFile ? 'files' : 'commands';
    const { number, random } = campaign.next(surface);
    const words = isFile ? fileWords(files, random) : grammar.next(random);
    const runMs = LASTING.test(words.path) ? RUN_MS : DEADLINE_MS;
    const ended = await runBounded(words, files.folder, runMs);
    const problem = commandProblem(ended) ?? (await wrongData(words, data, ended));
    const shown = JSON.stringify({ argv: words.argv, env: words.env, stdin: words.stdin });
    if (problem) campaign.fault(surface, number, problem, shown);
    campaign.saw(`${surface}: exit ${ended.code ?? ended.signal}`);
    await pause(performance.now() - startMs);
  }
}

/** After what changes data: do they hold together? */
async function wrongData(
  { path }: { path: string },
  data: string,
  { code }: Ended,
): Promise<string | null> {
  if (code !== 0 || !/^(?:import|restore|provider|device)/.test(path)) return null;
  return invariantProblems(await lookedAt(data))[0] ?? null;
}

/** A file that is nearly right, and the command that reads it. */
function fileWords(files: Files, random: Random): Words & { path: string } {
  const file = join(files.folder, 'fuzzed');
  const data = ['--data', join(files.folder, 'data')];
  const write = (bytes: string | Uint8Array) => writeFileSync(file, bytes, { mode: 0o600 });
  const words = (argv: string[]) => ({ path: argv[0] ?? '', argv, env: {}, stdin: '' });
  const roll = random.next();
  if (roll < 0.35) {
    write(spoiltConfiguration(random, files.configuration));
    return words(['config', '--config', file, ...data]);
  }
  if (roll < 0.65) {
    write(spoiltExport(random, files.exported));
    const more = random.chance(0.5) ? ['--update'] : [];
    const code = random.chance(0.5) ? ['--code', random.text(8, 'ABCDEF')] : [];
    return words(['import', file, '--new-key', ...code, ...more, ...data]);
  }
  const isSecret = random.chance(0.15);
  const original = isSecret ? files.encrypted : files.backup;
  write(random.chance(0.05) ? original : spoiltBytes(random, original));
  const secret = isSecret ? ['--passphrase-file', 'secret'] : [];
  if (random.chance(0.5)) return words(['restore', file, '--verify', ...secret, ...data]);
  return words(['restore', file, '--force', ...secret, ...data]);
}

function spoiltConfiguration(random: Random, example: string): string | Uint8Array {
  const lines = example.split('\n').map((line) => {
    const set = /^# ?([a-z_]+ = .*)$/.exec(line)?.[1];
    if (set === undefined || !random.chance(0.3)) return line;
    const [name = ''] = set.split(' = ');
    if (random.chance(0.5)) return set;
    const value = random.pick([JSON.stringify(random.pick(ARGUMENTS)), '1', '-1', 'true', '[1]']);
    return `${name} = ${random.chance(0.8) ? value : anyText(random)}`;
  });
  const text = lines.join('\n');
  const roll = random.next();
  if (roll < 0.6) return text;
  if (roll < 0.8) return spoiltText(random, text);
  if (roll < 0.95) return spoiltBytes(random, Buffer.from(text));
  return random.pick(['[a.', 'a=[', 'a={b=', '[[a]]\n']).repeat(random.pick([10, 2_000]));
}

function spoiltExport(random: Random, exported: string): string | Uint8Array {
  const lines = exported.trimEnd().split('\n');
  for (let count = random.int(1, 4); count > 0; count--) {
    const at = random.int(0, lines.length - 1);
    const line = lines[at] ?? '';
    const roll = random.next();
    if (roll < 0.2) lines.splice(at, 1);
    else if (roll < 0.4) lines.splice(random.int(0, lines.length), 0, line);
    else if (roll < 0.9) lines[at] = spoiltText(random, line);
    else lines[at] = '['.repeat(random.pick([33, 100_000]));
  }
  const text = `${lines.join('\n')}\n`;
  return random.chance(0.8) ? text : spoiltBytes(random, Buffer.from(text));
}
