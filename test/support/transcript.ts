/**
 * Runs the `$` lines of a document as a reader types them, in one shell, and compares what they
 * print. Lines without output below them are run and not compared.
 *
 * | In the document | Stands for |
 * |---|---|
 * | `…` alone on a line | any number of lines |
 * | `…` in a line | any text |
 * | a time, a version, 32 asterisks, the codes of {@link EXAMPLES} | any of its kind |
 * | two or more blanks | one or more |
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { plainEnv, temporaryFolder } from './process.ts';
import { readText } from './tree.ts';
import { until } from './until.ts';

export interface Step {
  /** The heading above it. */
  heading: string;
  /** The line of the document that the command begins on. */
  line: number;
  command: string;
  /** The lines that the document shows below it. */
  shown: string[];
}

/** Codes that stand for any other of their kind. */
const EXAMPLES: readonly [string, string][] = [
  ['EXAMPLE1', '[A-Za-z0-9]{8}'],
  ['LINKCODE0001', '[A-Za-z0-9]{12}'],
  ['LINKCODE0002', '[A-Za-z0-9]{12}'],
  ['LINKCODE0003', '[A-Za-z0-9]{12}'],
];
const KINDS: readonly [RegExp, string][] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?/g, '\\d{4}-\\d\\d-\\d\\d[T ][\\d:.]+Z?'],
  [/\b\d+\.\d+\.\d+\b(?!\.)/g, '\\d+\\.\\d+\\.\\d+'],
  [/\*{43}/g, '[-\\w]{43}'],
  [/\*{32}/g, '[-\\w]{32}'],
];

/** Returns the commands of a page; blocks with a language other than `console` have none. */
export function stepsOf(text: string): Step[] {
  const steps: Step[] = [];
  let heading = '';
  let isInside: boolean | null = null;
  let end: string | null = null;
  let indent = 0;
  for (const [at, whole] of text.split('\n').entries()) {
    const line =
      isInside === null ? whole : whole.slice(Math.min(indent, /\S|$/.exec(whole)?.index ?? 0));
    if (isInside === null) heading = /^#+ (.*)/.exec(line)?.[1] ?? heading;
    const fence = /^\s*```(\w*)/.exec(line);
    if (fence && isInside === null) indent = fence[0].indexOf('`');
    if (fence) {
      isInside = isInside === null ? ['', 'console'].includes(fence[1] ?? '') : null;
      end = null;
      if (isInside) steps.push({ heading, line: at + 1, command: '', shown: [] });
      continue;
    }
    const last = steps.at(-1);
    if (!isInside || last === undefined) continue;
    if (end !== null || last.command.endsWith('\\')) {
      last.command += `\n${line}`;
      if (line === end) end = null;
      continue;
    }
    if (!line.startsWith('$ ')) {
      last.shown.push(line);
      continue;
    }
    steps.push({ heading, line: at + 1, command: line.slice(2), shown: [] });
    end = /<<-?'?(\w+)'?/.exec(line)?.[1] ?? null;
  }
  return steps.filter(({ command }) => command !== '');
}

/** Returns what stands out between the shown lines and the printed ones; null: nothing. */
export function difference(shown: string[], printed: string): string | null {
  const wanted = shown.join('\n').trim();
  if (wanted === '') return null;
  const pattern = `^${wanted
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${patternOf(line)}\\n`))
    .join('')}$`;
  const got = printed.replaceAll('\r', '').trim();
  if (new RegExp(pattern).test(`${got}\n`)) return null;
  return `shown:\n${wanted}\nprinted:\n${got}`;
}

function patternOf(line: string): string {
  const marks: string[] = [];
  const mark = (pattern: string) => {
    marks.push(pattern);
    return `\u0001${String.fromCharCode(0xe000 + marks.length)}`;
  };
  let text = line.trimEnd();
  for (const [kind, pattern] of KINDS) text = text.replace(kind, () => mark(pattern));
  for (const [example, pattern] of EXAMPLES) text = text.replaceAll(example, () => mark(pattern));
  return text
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/ {2,}/g, ' +')
    .replaceAll('…', '.*')
    .replace(/\u0001(.)/g, (_, sign: string) => marks[sign.charCodeAt(0) - 0xe001] ?? '');
}

export interface Place {
  /** Texts of the document and what stands for them here: paths, ports, addresses. */
  instead: readonly [string, string][];
  env: Record<string, string>;
  cwd: string;
  /** The shell, with the folder of its files, which is `there` to it; default: bash here. */
  shell?: { argv: readonly string[]; folder: { here: string; there: string } };
  /** What people type when these commands ask. */
  answers?: readonly [RegExp, string][];
  /** Each command must end with 0. */
  mustSucceed?: true;
  /** Called with each command that did what the page shows. */
  onStep?(step: string): void;
}

/** Commands that change nothing: what they report may take a moment, so they are asked again. */
const READS = /\bgatepost (?:\w+ )?(?:list|show|deliveries|ready|stats)\b/;
const READ_AGAIN_MS = 12_000;
const STOP_MS = 10_000;
const SERVERS = /^(?:make run|(?:sudo -u \w+ )?(?:\.\/)?gatepost serve)\b/;

/** A shell that keeps its variables and its directory from one command to the next. */
class Shell {
  readonly #folder: { here: string; there: string };
  readonly #child;
  #count = 0;

  constructor(readonly place: Place) {
    const own = temporaryFolder();
    this.#folder = place.shell?.folder ?? { here: own, there: own };
    this.#child = Bun.spawn([...(place.shell?.argv ?? ['bash', '--noprofile', '--norc'])], {
      cwd: place.cwd,
      env: plainEnv({ GATEPOST_CONFIG: '', ...place.env }),
      stdin: 'pipe',
      stdout: 'ignore',
      stderr: 'ignore',
    });
    // Each server is a process group, so that all of it can be ended.
    this.#child.stdin.write('set -m\n');
  }

  /** Runs a command; one that serves stays in the background once `isDone` holds. */
  async run(
    command: string,
    isDone: (printed: string) => boolean,
  ): Promise<{ printed: string; code: number }> {
    this.#count += 1;
    const { here, there } = this.#folder;
    const [out, end] = [`out-${this.#count}`, `end-${this.#count}`];
    const answer = this.place.answers?.find(([asking]) => asking.test(command))?.[1];
    if (answer !== undefined) await Bun.write(join(here, `in-${this.#count}`), answer);
    const from = answer === undefined ? '' : ` <'${there}/in-${this.#count}'`;
    const group = `{\n${this.#translated(command)}\n}`;
    const isServer = SERVERS.test(command) || command.endsWith(' &');
    const line = isServer
      ? `${group.replace(/ &\n}$/, '\n}')} >'${there}/${out}' 2>&1 & echo $! >>'${there}/pids'\n`
      : `${group}${from} >'${there}/${out}' 2>&1; echo $? >'${there}/${end}'\n`;
    this.#child.stdin.write(line);
    await this.#child.stdin.flush();
    const printed = () => Bun.file(join(here, out)).text();
    const code = async () =>
      /^(\d+)\n$/.exec(
        await Bun.file(join(here, end))
          .text()
          .catch(() => ''),
      )?.[1];
    await until(`the end of: ${command}`, async () =>
      isServer ? isDone(await printed().catch(() => '')) : (await code()) !== undefined,
    ).catch(async (error) => {
      throw new Error(`${error.message}\n${await printed()}`);
    });
    return { printed: this.#reported(await printed()), code: Number((await code()) ?? 0) };
  }

  async stop(): Promise<void> {
    const pids = await Bun.file(join(this.#folder.here, 'pids'))
      .text()
      .catch(() => '');
    const groups = pids
      .split('\n')
      .filter((pid) => pid !== '')
      .map((pid) => `-${pid}`);
    this.#child.stdin.write(`kill -- ${groups.join(' ')} 2>/dev/null; wait; exit\n`);
    await this.#child.stdin.end();
    // A command that was waited for in vain keeps the shell from its end.
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS);
    await this.#child.exited;
    clearTimeout(timer);
    rmSync(this.#folder.here, { recursive: true, force: true });
  }

  #translated(command: string): string {
    return this.place.instead.reduce((text, [from, to]) => text.replaceAll(from, to), command);
  }

  #reported(printed: string): string {
    return this.place.instead.reduce((text, [from, to]) => text.replaceAll(to, from), printed);
  }
}

/** A part of a page; without a heading all of it. */
export interface Part {
  path: string;
  heading?: string;
  /** What it prints there is an example of another installation, and not compared. */
  isExample?: true;
  /** A command that prepares the machine, and is no part of the page. */
  before?: string;
}

/** Returns the commands of a part. Throws if there are none: another heading is no empty way. */
export function stepsOfPart({ path, heading }: Part): Step[] {
  const steps = stepsOf(readText(path)).filter(
    (step) => (heading ?? step.heading) === step.heading,
  );
  if (steps.length === 0) throw new Error(`${path} has no commands below "${heading}"`);
  return steps;
}

/** Runs pages one after the other. Returns what differs, by line; of right pages, nothing. */
export async function runPages(parts: readonly (string | Part)[], place: Place): Promise<string[]> {
  const shell = new Shell(place);
  const wrong: string[] = [];
  const steps = parts
    .map((part) => (typeof part === 'string' ? { path: part } : part))
    .flatMap((part: Part) => [
      ...(part.before ? [{ ...part, line: 0, command: part.before, shown: [] as string[] }] : []),
      ...stepsOfPart(part).map((step) => ({ ...part, ...step })),
    ]);
  try {
    for (const { path, line, command, shown, isExample } of steps) {
      const compared = (text: string) => (isExample ? null : difference(shown, text));
      const isDone = (text: string) =>
        shown.length === 0 ? /listening on/.test(text) : compared(text) === null;
      const askedMs = performance.now();
      let told: string | null;
      do {
        const { printed, code } = await shell.run(command, isDone);
        const isFailure = place.mustSucceed && code !== 0 && !FAILURE.test(shown.join('\n'));
        told = isFailure ? `exit code ${code}:\n${printed}` : compared(printed);
      } while (told !== null && READS.test(command) && performance.now() - askedMs < READ_AGAIN_MS);
      const step = `${path}:${line}: ${command}`;
      if (told === null) place.onStep?.(step);
      else wrong.push(`${step}\n${told}`);
    }
  } catch (error) {
    wrong.push(String(error));
  } finally {
    await shell.stop();
  }
  return wrong;
}

/** What a page shows of a command that is to fail. */
const FAILURE = /^gatepost: /m;
