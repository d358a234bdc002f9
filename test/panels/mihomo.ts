/**
 * mihomo as an app: it fetches the subscription of a customer with a HWID in its header, and its
 * controller names the servers that it took.
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { plainEnv, ROOT, temporaryFolder } from '../support/process.ts';
import { start } from '../support/proxies.ts';
import { until } from '../support/until.ts';

/** The branches of its repository that have the program; the default one has others. */
const BRANCHES = ['Meta', 'Alpha'];

/**
 * Returns the program: that of the path, or one built from `PANEL_SOURCES/mihomo`, a checkout of
 * `MetaCubeX/mihomo`; null: there is none.
 */
export function mihomo(): string | null {
  const found = Bun.which('mihomo');
  if (found !== null) return found;
  const source = resolve(process.env['PANEL_SOURCES'] ?? '', 'mihomo');
  const build = resolve(process.env['PANEL_BUILDS'] ?? join(ROOT, 'dist/panels'), 'mihomo');
  const program = join(build, 'mihomo');
  if (existsSync(program)) return program;
  mkdirSync(join(build, 'source'), { recursive: true });
  const isMade = BRANCHES.some((branch) => {
    const unpack = `git -C "$0" archive origin/${branch} | tar -x -C source`;
    const script = `set -o pipefail; ${unpack} && cd source && go build -trimpath -o ../mihomo .`;
    const made = Bun.spawnSync(['bash', '-c', script, source], { cwd: build, env: plainEnv() });
    return made.exitCode === 0;
  });
  return isMade ? program : null;
}

export interface App {
  /** Fetches the subscription anew. Returns the names of the servers that it has then. */
  fetch(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts mihomo with a subscription, whose host leads to 127.0.0.1. */
export async function startMihomo(
  program: string,
  { url, hwid }: { url: string; hwid: string },
): Promise<App> {
  const folder = temporaryFolder();
  const port = freePort();
  mkdirSync(join(folder, 'home'));
  const subscription = {
    type: 'http',
    url,
    // It fetches when it is told to.
    interval: 86_400,
    path: './subscription.yaml',
    header: { 'x-hwid': [hwid], 'x-device-os': ['Linux'] },
    'health-check': { enable: false },
  };
  const config = {
    'external-controller': `127.0.0.1:${port}`,
    ipv6: false,
    hosts: { [new URL(url).hostname]: '127.0.0.1' },
    'proxy-providers': { shop: subscription },
    'proxy-groups': [{ name: 'all', type: 'select', use: ['shop'] }],
    rules: ['MATCH,DIRECT'],
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const controller = `http://127.0.0.1:${port}`;
  const child = await start([program, '-d', folder], folder, controller);
  const provider = `${controller}/providers/proxies/shop`;
  // The controller listens before the configuration is read.
  await until('mihomo has its configuration', async () => {
    const answer = await fetch(provider);
    await answer.body?.cancel();
    return answer.ok;
  });
  return {
    async fetch() {
      // 503: it took nothing, and keeps what it has.
      const update = await fetch(provider, { method: 'PUT' });
      await update.body?.cancel();
      const { proxies } = (await (await fetch(provider)).json()) as { proxies: { name: string }[] };
      return proxies.map(({ name }) => name);
    },
    stop: child.stop,
  };
}
