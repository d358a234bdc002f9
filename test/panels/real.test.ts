/**
 * The rules of the door in front of real panels: `make panel-tests`, and README.md beside this
 * file. No package of Debian has these panels. A panel that no variable names is skipped with a
 * sentence, under `CI=true` too: that is no failure, as those of `test/support` stand in for it.
 */

import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from '../support/app.ts';
import {
  addProviderByCommand,
  cleanUp,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';
import { exchange, type Got, HOST } from '../support/upstream.ts';
import { type AtHand, type Customer, panelAtHand, type RealPanel, VARIABLES } from './at-hand.ts';
import { asHost, detours, noSubscriptions } from './detours.ts';

// Hiddify needs seconds for an answer.
setDefaultTimeout(10 * PATIENCE_MS);
afterAll(cleanUp);

/** Signs that 3x-ui takes in a subscription id. */
const ODD_SIGNS = ['!', '(', ')', "'", '*', ',', ';', '&', '$', '%', '%41', '#', '?', '😀', 'ﬁ'];
const JUNK = ['null', 'undefined', 'unknown', 'none', '0', '00000000', 'aaaaaaaa'];

const SERVERS = /\b(?:vless|vmess|trojan|ss|hysteria2?|tuic|wireguard):\/\/|"outbounds"|^proxies:/m;

/** Returns whether an answer lists servers, in clear or in base64. */
function hasServers({ status, body }: Got): boolean {
  return status === 200 && (SERVERS.test(body) || SERVERS.test(atobOf(body)));
}

const atobOf = (text: string) => Buffer.from(text, 'base64').toString('latin1');

describe.each(Object.keys(VARIABLES) as AtHand[])('%s', (kind) => {
  const customers: Customer[] = [];
  let panel: RealPanel | null = null;
  const opened = panelAtHand(kind).then((found) => {
    panel = found;
  });
  const isMissing = process.env[VARIABLES[kind]] === undefined;
  const testOn = test.skipIf(isMissing);

  afterEach(async () => {
    for (const customer of customers.splice(0)) await panel?.remove(customer);
  });

  async function atHand(): Promise<RealPanel> {
    await opened;
    if (panel === null) throw new Error(`no ${kind}`);
    return panel;
  }

  /** Adds a customer, who is removed at the end of the test. */
  async function add(key?: string): Promise<Customer> {
    const name = `gatepost_${crypto.randomUUID().slice(0, 8)}`;
    const customer = await (await atHand()).add(name, key);
    customers.push(customer);
    return customer;
  }

  /** Starts an appliance in front of the panel, by the lines of its page. */
  async function front(more = '', before = async (_dataDir: string, _code: string) => {}) {
    const dataDir = join(temporaryFolder(), 'data');
    const own = await addProviderByCommand(dataDir);
    const file = join(temporaryFolder(), 'gatepost.toml');
    const { lines } = await atHand();
    const upstream = `host = "${HOST}"\nprovider = "${own.code}"\n${lines}\n${more}`;
    writeFileSync(file, `[[gate.upstream]]\n${upstream}\n`);
    await before(dataDir, own.code);
    const server = await startServe({ dataDir, env: { GATEPOST_CONFIG: file } });
    const counts = async () => {
      const { json } = await call(server, '/api/list-install', own);
      return json.data.map((link: Record<string, unknown>) => link['install_count']);
    };
    return { server, counts };
  }

  const ask = (server: ServerProcess, path: string, headers: Record<string, string>) =>
    exchange(server.port, 'GET', path, { 'user-agent': 'Happ/3.1', ...headers });

  testOn('two devices take the slots, and no detour leads to the servers', async () => {
    const customer = await add();
    const { server, counts } = await front();
    for (const hwid of ['a-phone', 'a-tablet']) {
      const got = await ask(server, customer.path, { 'x-hwid': hwid });
      expect({ hwid, hasServers: hasServers(got) }).toEqual({ hwid, hasServers: true });
    }
    const led: string[] = [];
    for (const { name, path, headers } of await detours(kind, await atHand(), customer)) {
      const got = await ask(server, path, headers);
      if (hasServers(got)) led.push(name);
    }
    expect(led).toEqual([]);
    expect(await counts()).toEqual([2]);
  });

  testOn('what is no subscription makes no link and takes no slot', async () => {
    const { server, counts } = await front();
    for (const path of noSubscriptions(kind, await add())) {
      await ask(server, path, { 'x-hwid': 'a-phone' });
      expect({ path, counts: await counts() }).toEqual({ path, counts: [] });
    }
  });

  testOn('a customer who is disabled at the import comes back with the panel', async () => {
    const customer = await add();
    const { api, setActive } = await atHand();
    await setActive(customer, false);
    const key = join(temporaryFolder(), 'token');
    writeFileSync(key, api.token, { mode: 0o600 });
    const { server } = await front('', async (dataDir, code) => {
      const from = ['--from', api.url, '--panel', kind, '--key-file', key];
      const { stderr, code: exit } = await run([
        'import',
        ...from,
        '--code',
        code,
        '--data',
        dataDir,
      ]);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.any(String) });
    });
    await setActive(customer, true);
    expect(hasServers(await ask(server, customer.path, { 'x-hwid': 'a-phone' }))).toBe(true);
  });

  testOn('a HWID that is none gets nothing, and a short one is a HWID', async () => {
    const customer = await add();
    const { server, counts } = await front();
    for (const junk of JUNK) {
      const got = await ask(server, customer.path, { 'x-hwid': junk });
      expect({ junk, hasServers: hasServers(got) }).toEqual({ junk, hasServers: false });
    }
    expect(hasServers(await ask(server, customer.path, { 'x-hwid': 'x' }))).toBe(true);
    expect(await counts()).toEqual([1]);
  });

  testOn('the addresses in the answers of the panel keep the port', async () => {
    const customer = await add();
    const { server } = await front();
    const headers = { 'x-hwid': 'a-phone', Host: `${HOST}:2096` };
    await ask(server, customer.path, headers);
    const { name, path } = asHost(kind, customer);
    const got = await ask(server, path, headers);
    expect(got.headers.get(name)).toContain(`//${HOST}:2096/`);
  });

  test.skipIf(isMissing || kind !== '3x-ui')(
    'each sign of a key that it takes is one here',
    async () => {
      const { server, counts } = await front();
      for (const sign of ODD_SIGNS) {
        const customer = await add(`${crypto.randomUUID().slice(0, 8)}${sign}x`);
        for (const hwid of ['a-phone', 'a-tablet']) {
          const got = await ask(server, customer.path, { 'x-hwid': hwid });
          expect({ sign, hasServers: hasServers(got) }).toEqual({ sign, hasServers: true });
        }
        const third = await ask(server, customer.path, { 'x-hwid': 'a-third' });
        expect({ sign, status: third.status }).toEqual({ sign, status: 404 });
      }
      expect(await counts()).toEqual(ODD_SIGNS.map(() => 2));
    },
  );
});
