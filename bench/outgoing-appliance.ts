/** A data directory for the benches of what goes out: a provider, devices at gateways, webhooks. */

import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { addPushDevices } from '../test/support/push-devices.ts';
import type { Server } from './process.ts';

const AUTH_KEY = 'outgoing-bench-key-0000000000000';
const CODE = 'BENCH001';

interface Order {
  executable: string;
  dataDir: string;
  /** Devices at each gateway. */
  counts: Readonly<Record<'fcm' | 'apns', number>>;
  /** Webhooks of the provider: a name, and its address. */
  hooks?: readonly (readonly [name: string, url: string])[];
}

interface Answer {
  rc: number;
  msg: string;
  id: number;
  data: { status: number }[];
}

export interface Appliance {
  dataDir: string;
  /** The webhooks' secrets by their names. */
  secrets: ReadonlyMap<string, string>;
  /** The address of a call of the provider; `query` begins with `&`. */
  url(server: Pick<Server, 'url'>, path: string, query?: string): string;
  /** A call of the provider; throws for a refusal. */
  ask(server: Pick<Server, 'url'>, path: string, query?: string, body?: object): Promise<Answer>;
}

/** Makes it: the executable the schema and the webhooks, SQLite the devices. */
export function makeAppliance({ executable, dataDir, counts, hooks = [] }: Order): Appliance {
  const run = (...words: string[]) => {
    const argv = [executable, ...words, '--json', '--data', dataDir];
    // The receivers of the webhooks are on this machine.
    const env = { GATEPOST_CONFIG: 'none', GATEPOST_OUTGOING_ALLOW: '127.0.0.0/8' };
    const made = Bun.spawnSync(argv, { env });
    if (made.exitCode !== 0) throw new Error(made.stderr.toString());
    return JSON.parse(made.stdout.toString()) as { secret?: string };
  };
  const identity = ['--name', 'bench', '--code', CODE, '--key', AUTH_KEY];
  run('provider', 'add', '--plan', 'enterprise', ...identity);
  const db = new Database(join(dataDir, 'gatepost.db'), { strict: true });
  db.run('PRAGMA synchronous = OFF');
  for (const gateway of ['fcm', 'apns'] as const) {
    if (counts[gateway] > 0) addPushDevices(db, { id: 1 }, gateway, counts[gateway]);
  }
  db.run('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close(true);
  const secrets = new Map<string, string>();
  for (const [name, url] of hooks) {
    secrets.set(name, run('webhook', 'add', '--url', url, '--provider', CODE).secret ?? '');
  }
  const urlOf = (server: Pick<Server, 'url'>, path: string, query = '') =>
    `${server.url}${path}?provider_code=${CODE}&auth_key=${AUTH_KEY}${query}`;
  return {
    dataDir,
    secrets,
    url: urlOf,
    ask: async (server, path, query, body) => {
      const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = (await (await fetch(urlOf(server, path, query), init)).json()) as Answer;
      if (answer.rc !== 1) throw new Error(answer.msg);
      return answer;
    },
  };
}
