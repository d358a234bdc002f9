/** Fills an appliance through its own API with what `load.lua` asks for, whatever its schema. */

import { hostHash } from '../src/core/host-name.ts';
import { startGatepost } from './cases.ts';
import {
  authKey,
  domainHash,
  providerCode,
  SCATTER_FACTOR,
  SCATTER_MODULUS,
  type Shape,
} from './shape.ts';

const CALLERS = 64;

/** Makes `dataDir`. Of `shape` there may be one provider, and as many devices as links. */
export async function fillThroughApi(
  executable: string,
  dataDir: string,
  { linkCount }: Shape,
): Promise<void> {
  const identity = ['--name', 'bench', '--code', providerCode(1), '--key', authKey(1)];
  const plan = ['--plan', 'enterprise'];
  const words = [executable, 'provider', 'add', '--data', dataDir, ...identity, ...plan];
  const add = Bun.spawnSync(words);
  if (add.exitCode !== 0) throw new Error(`no database was made: ${add.stderr.toString()}`);
  const server = await startGatepost(executable, dataDir);
  try {
    const who = `provider_code=${providerCode(1)}&auth_key=${authKey(1)}`;
    const api = (path: string, query: string) => ask(`${server.url}/api/${path}?${who}&${query}`);
    for (const hash of [domainHash(1), hostHash('sub.example.com')]) {
      await api('add-domain', `domain_hash=${hash}`);
    }
    await sideBySide(linkCount, (n) =>
      api(
        'add-install',
        `install_limit=100&note=customer&install_code=${codeOf(n)}&subscription_key=key-${codeOf(n)}`,
      ),
    );
    await sideBySide(linkCount, (n) =>
      ask(`${server.url}/install?id=${domainHash(1)}&installid=${codeOf(n)}`, facts(hwidOf(n))),
    );
  } finally {
    await server.stop();
  }
}

const scattered = (n: number) => (n * SCATTER_FACTOR) % SCATTER_MODULUS;
const codeOf = (n: number) => `gp${String(scattered(n)).padStart(10, '0')}`;
const hwidOf = (n: number) =>
  `${scattered(n).toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

/** As `install` in load.lua sends them. */
function facts(hwid: string): Record<string, string> {
  return {
    'user-agent': 'BenchApp/1.0',
    'x-hwid': hwid,
    'x-device-os': 'Android',
    'x-ver-os': '16',
    'x-device-model': 'Bench Phone',
    'x-app-version': '1.0',
  };
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<void> {
  const text = await (await fetch(url, { headers })).text();
  if (!text.startsWith('{"rc":1')) throw new Error(`refused: ${text}`);
}

async function sideBySide(count: number, call: (n: number) => Promise<void>): Promise<void> {
  let next = 1;
  const caller = async () => {
    while (next <= count) {
      const n = next;
      next += 1;
      await call(n);
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}
