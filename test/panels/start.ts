/**
 * Starts a real panel by its script in `panels/`, in a process group of its own.
 *
 * | Variable | Effect |
 * |---|---|
 * | `PANEL_SOURCES` | a folder with a checkout each; unset: every panel is skipped |
 * | `PANEL_BUILDS` | where builds are kept between runs; default: `dist/panels` |
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { freePorts } from '../support/free-port.ts';
import { plainEnv, ROOT } from '../support/process.ts';
import { until } from '../support/until.ts';
import type { RealKind } from './panel.ts';

/** The public repository of each, and what to check out; null: the default branch. */
const REPOSITORIES: Readonly<Record<RealKind, { name: string; tag: string | null }>> = {
  '3x-ui': { name: 'MHSanaei/3x-ui', tag: null },
  marzban: { name: 'Gozargah/Marzban', tag: 'v0.8.4' },
  pasarguard: { name: 'PasarGuard/panel', tag: 'v5.2.1' },
  hiddify: { name: 'hiddify/Hiddify-Manager', tag: null },
};
/** For a first start, which builds the panel. */
const BUILD_MS_MAX = 900_000;
const ANSWER_MS_MAX = 180_000;
const END_MS_MAX = 20_000;
/** The ports of one panel, the first of them its own. */
const PORTS = 10;

/** Where the checkout of a panel is; null: there is none, and none was to be had. */
export function sourceOf(kind: RealKind): string | null {
  const folder = process.env['PANEL_SOURCES'] ?? '';
  if (folder === '') return null;
  const source = resolve(folder, kind);
  if (existsSync(source)) return source;
  const { name, tag } = REPOSITORIES[kind];
  const url = `https://github.com/${name}`;
  const branch = tag === null ? [] : ['--branch', tag];
  const made = Bun.spawnSync(['git', 'clone', '--quiet', '--depth', '1', ...branch, url, source], {
    env: plainEnv({ GIT_TERMINAL_PROMPT: '0' }),
  });
  return made.exitCode === 0 ? source : null;
}

export function commitOf(source: string): string {
  const said = Bun.spawnSync(['git', '-C', source, 'rev-parse', '--short=12', 'HEAD']);
  return said.exitCode === 0 ? String(said.stdout).trim() : 'unknown';
}

export interface Running {
  /** What the script printed: the address of the panel, with what its API wants. */
  address: URL;
  /** The first of its ports; ten in a row are its own. */
  port: number;
  /** Its data of this run. */
  data: string;
  build: string;
  restart(): Promise<void>;
}

/** Process groups that were started here, with their data. */
const groups = new Map<number, string>();
// A run that is interrupted leaves no panel behind.
for (const each of ['SIGINT', 'SIGTERM'] as const) {
  process.once(each, () => {
    for (const [group, data] of groups) {
      signal(group, 'SIGKILL');
      rmSync(data, { recursive: true, force: true });
    }
    process.exit(130);
  });
}

/** Ends every panel that was started here and removes its data. For `afterAll`. */
export async function endPanels(): Promise<void> {
  for (const [group, data] of groups) {
    await endGroup(group);
    rmSync(data, { recursive: true, force: true });
  }
}

/** Sends a signal to a group; returns whether it has a process left. */
function signal(group: number, name: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-group, name);
  } catch {
    return false;
  }
}

async function endGroup(group: number): Promise<void> {
  signal(group, 'SIGTERM');
  await until('a panel ends', () => !signal(group, 0), END_MS_MAX).catch(() => {
    signal(group, 'SIGKILL');
  });
  await until('a panel ends that was killed', () => !signal(group, 0), END_MS_MAX);
  groups.delete(group);
}

function firstOfFreePorts(): number {
  for (;;) {
    const [port = 0] = freePorts(1);
    const isFree = Array.from({ length: PORTS }, (_, at) => port + at).every((each) => {
      try {
        Bun.listen({ hostname: '127.0.0.1', port: each, socket: { data() {} } }).stop(true);
        return true;
      } catch {
        return false;
      }
    });
    if (isFree) return port;
  }
}

/** Starts a panel with data of its own. `env` goes to the script. */
export async function startPanel(
  kind: RealKind,
  source: string,
  env: Record<string, string> = {},
): Promise<Running> {
  const build = resolve(process.env['PANEL_BUILDS'] ?? join(ROOT, 'dist/panels'), kind);
  mkdirSync(build, { recursive: true });
  const data = mkdtempSync(join(tmpdir(), `gatepost-${kind}-`));
  const port = firstOfFreePorts();
  const start = async () => {
    const [out, errors] = [join(data, 'stdout'), join(data, 'stderr')];
    rmSync(out, { force: true });
    const script = join(import.meta.dir, 'panels', `${kind}.sh`);
    const child = Bun.spawn([script, source, build, data, String(port)], {
      env: plainEnv(env),
      stdin: 'ignore',
      stdout: Bun.file(out),
      stderr: Bun.file(errors),
      detached: true,
    });
    groups.set(child.pid, data);
    const said = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
    const lives = () => {
      if (child.exitCode !== null) throw new Error(`${kind} ended: ${said(errors)}`);
    };
    const printed = () => {
      lives();
      return /^http:\S+$/m.exec(said(out))?.[0];
    };
    const address = new URL(await until(`${kind} is built`, printed, BUILD_MS_MAX));
    const answers = () => {
      lives();
      return fetch(address.origin, { keepalive: false }).then(Boolean, () => false);
    };
    await until(`${kind} answers`, answers, ANSWER_MS_MAX);
    return { group: child.pid, address };
  };
  let { group, address } = await start();
  return {
    get address() {
      return address;
    },
    port,
    data,
    build,
    restart: async () => {
      await endGroup(group);
      ({ group, address } = await start());
    },
  };
}
