/** An appliance in front of a real panel, by the lines of the panel's page in `docs/`. */

import { Database } from 'bun:sqlite';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signedForm } from '../../src/core/panel/kind.ts';
import { readPanelToken } from '../../src/core/panel/token.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { exchange, type Got, HOST } from '../support/upstream.ts';
import type { Customer, RealKind, RealPanel, UserSpec } from './panel.ts';

export interface Fronting {
  server: ServerProcess;
  own: Credentials;
  dataDir: string;
  /** The file of its settings. */
  config: string;
  /** Asks as the app Happ does. */
  ask(path: string, headers: Record<string, string>): Promise<Got>;
  /** The devices of each link, in the order of the list. */
  counts(): Promise<number[]>;
  stop(): Promise<void>;
}

interface FrontOptions {
  /** Lines of `[[gate.upstream]]` behind those of the page. */
  more?: string;
  /** Runs before the server, with the data directory and the provider's code. */
  before?: (dataDir: string, code: string) => Promise<void>;
}

/** Starts an appliance in front of a panel. */
export async function front(
  panel: RealPanel,
  { more = '', before }: FrontOptions = {},
): Promise<Fronting> {
  const dataDir = join(temporaryFolder(), 'data');
  const own = await addProviderByCommand(dataDir);
  const file = join(temporaryFolder(), 'gatepost.toml');
  const upstream = `host = "${HOST}"\nprovider = "${own.code}"\n${panel.lines}\n${more}`;
  writeFileSync(file, `[[gate.upstream]]\n${upstream}\n`);
  await before?.(dataDir, own.code);
  const server = await startServe({ dataDir, env: { GATEPOST_CONFIG: file } });
  return {
    server,
    own,
    dataDir,
    config: file,
    ask: (path, headers) =>
      exchange(server.port, 'GET', path, { 'user-agent': 'Happ/3.1', ...headers }),
    counts: async () => {
      const { json } = await call(server, '/api/list-install', own);
      return json.data.map((link: Record<string, unknown>) => link['install_count']);
    },
    stop: async () => {
      await server.stop();
    },
  };
}

/** Returns the key of a customer's link, as the gate reads it from the address. */
export function linkKeyOf(kind: RealKind, { key }: Customer): string {
  const form = signedForm(kind);
  if (form === null) return key;
  const token = readPanelToken(form, key);
  if (token === null) throw new Error(`no token of ${kind}: ${key}`);
  return token.key;
}

/** Returns the secret that signs the tokens of a panel; null: it signs none. */
export function secretOf({ kind, database }: RealPanel): string | null {
  if (kind !== 'marzban' && kind !== 'pasarguard') return null;
  if (database.kind !== 'sqlite') throw new Error('its secret is read from SQLite alone');
  const file = new Database(database.file, { readonly: true });
  const row = file.query<{ secret_key: string }, []>('SELECT secret_key FROM jwt').get();
  file.close();
  return row?.secret_key ?? null;
}

/** Imports by the panel's API, with the words of its page; throws where the command fails. */
export async function importByApi(
  { api, kind }: RealPanel,
  dataDir: string,
  code: string,
  more: readonly string[] = [],
): Promise<string> {
  const key = join(temporaryFolder(), 'token');
  writeFileSync(key, api.token, { mode: 0o600 });
  const from = ['--from', api.url, '--panel', kind, '--key-file', key];
  const made = await run(['import', ...from, '--code', code, '--data', dataDir, ...more]);
  if (made.code !== 0) throw new Error(`import failed: ${made.stderr}`);
  return made.stdout;
}

/** Runs with customers of the panel, who are removed at the end. */
export async function withCustomers<T>(
  { users }: RealPanel,
  specs: readonly Partial<UserSpec>[],
  work: (customers: Customer[]) => Promise<T>,
): Promise<T> {
  const customers: Customer[] = [];
  try {
    for (const spec of specs) {
      const name = `gatepost_${crypto.randomUUID().slice(0, 8)}`;
      customers.push(await users.add({ name, ...spec }));
    }
    return await work(customers);
  } finally {
    for (const customer of customers) await users.remove(customer).catch(() => {});
  }
}

/** Asks the panel itself, as the appliance would. */
export function askPanel(
  { url }: RealPanel,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Got> {
  return exchange(Number(new URL(url).port), 'GET', path, {
    'user-agent': 'Happ/3.1',
    ...headers,
  });
}

/** What the panel and the gate say to the same request. */
interface Asked {
  own: Got;
  got: Got;
  /** The answers are equal in status and in each byte of the body. */
  isSame: boolean;
}

/** Asks the panel, then the gate. */
export async function askBoth(
  panel: RealPanel,
  gate: Fronting,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Asked> {
  const own = await askPanel(panel, path, headers);
  const got = await gate.ask(path, headers);
  const isEqual = (read: (body: string) => string) => read(own.body) === read(got.body);
  // Hiddify writes the minute and a random number into its answers, in base64 too.
  const isSameBody =
    isEqual((body) => body) ||
    (panel.kind === 'hiddify' &&
      (isEqual(withoutFigures) || isEqual((b) => withoutFigures(atobOf(b)))));
  return { own, got, isSame: own.status === got.status && isSameBody };
}

const withoutFigures = (text: string) => text.replace(/\d+/g, '0');

const SERVERS =
  /\b(?:vless|vmess|trojan|ss|hysteria2?|tuic|wireguard):\/\/|"outbounds"|"server_port"|^proxies:/m;

const atobOf = (text: string) => Buffer.from(text, 'base64').toString('latin1');

/** Returns whether an answer lists servers, in clear or in base64. */
export function hasServers({ status, body }: Pick<Got, 'status' | 'body'>): boolean {
  return status === 200 && (SERVERS.test(body) || SERVERS.test(atobOf(body)));
}
