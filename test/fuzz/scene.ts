/** What there is on the appliance before the fuzzer comes: something for most values to name. */

import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { call } from '../support/app.ts';
import { register } from '../support/messaging.ts';
import { addProviderByCommand } from '../support/process.ts';

export interface Scene {
  /** On the highest plan, on a lower one, and one whose subscription has ended. */
  credentials: readonly Credentials[];
  codes: readonly string[];
  hashes: readonly string[];
  hwids: readonly string[];
  /** Those of the devices as they were registered last. */
  tokens: string[];
}

const CODES = ['fuzzCode0001', 'fuzzCode0002', 'fuzzCode0003', 'fuzzFull0001'];
/** The host of the subscriptions that proxies ask about. */
export const GATE_HOST = 'sub.example.com';
const HASHES = ['a'.repeat(64), 'b'.repeat(64), hostHash(GATE_HOST)];
/** The key of the subscription whose link has a code. */
export const keyOf = (code: string) => `key-${code}`;
const HWIDS = ['phone-1', 'phone-2', 'phone-3', '00000000-0000-4000-8000-000000000000'];

/** Links that a provider of the fuzzer may have: it adds some in every run, and runs long. */
const LINKS_MAX = '3000';

/** Providers, before the server starts. */
export async function addFuzzProviders(dataDir: string): Promise<Credentials[]> {
  const add = (...words: string[]) =>
    addProviderByCommand(dataDir, '--max-links', LINKS_MAX, ...words);
  return [
    await add('--plan', 'enterprise'),
    await add('--plan', 'pro'),
    await add('--expires', '2020-01-01'),
  ];
}

/** Bindings, links, devices and messages, through the API of the server at `url`. */
export async function setScene(url: string, credentials: readonly Credentials[]): Promise<Scene> {
  const app = { url };
  const ask = async (path: string, own: Credentials, query: Record<string, string | number>) => {
    const { json, text } = await call(app, path, own, query);
    if (json?.rc !== 1) throw new Error(`${path}: ${text}`);
  };
  const [first, second] = credentials;
  if (!first || !second) throw new Error('two providers are needed');
  for (const own of [first, second]) {
    for (const hash of HASHES) await ask('/api/add-domain', own, { domain_hash: hash });
  }
  for (const [at, install_code] of CODES.entries()) {
    const own = at === 2 ? second : first;
    const install_limit = at === 3 ? 1 : 100;
    const subscription_key = keyOf(install_code);
    const link = { install_limit, install_code, subscription_key, note: 'fuzz' };
    await ask('/api/add-install', own, link);
  }
  const tokens: string[] = [];
  for (const hwid of HWIDS) {
    const body = { hwid, install_code: CODES[0], domain_hash: HASHES[0] };
    tokens.push(await register(app, body));
  }
  const body = JSON.stringify({ action_type: 'update-subscription', hwid: HWIDS[0] });
  const sent = await call(app, '/remote/command', first, {}, { method: 'POST', body });
  if (sent.json?.rc !== 1) throw new Error(`/remote/command: ${sent.text}`);
  return { credentials, codes: CODES, hashes: HASHES, hwids: HWIDS, tokens };
}
