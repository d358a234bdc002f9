/**
 * Strangers at real proxies, with the files of the documents: where Gatepost answers quietly, a key
 * that no link has gets the very bytes that the proxy gives for any other path of its own.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { call } from '../support/app.ts';
import { testWith } from '../support/needs.ts';
import { addProviderByCommand, type ServerProcess, startServe } from '../support/process.ts';
import { FRONT_PROXIES, type FrontProxy, SUB_HOST, sendRaw } from '../support/proxies.ts';
import { bind, expectOk } from '../support/shop.ts';
import { type SmallPanel, startSmallPanel, subscriptionOf } from '../support/small-panel.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const ENV = {
  GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
  GATEPOST_STRANGERS: 'quiet',
  GATEPOST_HOSTS: '127.0.0.1',
};
const KEY = 'key-of-a-customer';

let panel: SmallPanel;
let server: ServerProcess;

beforeAll(async () => {
  panel = startSmallPanel();
  server = await startServe({ env: ENV });
  const own = await addProviderByCommand(server.dataDir);
  await bind(server, own, hostHash(SUB_HOST));
  const query = { install_limit: 1, subscription_key: KEY };
  await expectOk(call(server, '/api/add-install', own, query));
});

afterAll(() => panel.stop());

describe.each(FRONT_PROXIES)('%s', (name, start) => {
  const testHere = testWith(name);
  let proxy: FrontProxy;

  beforeAll(async () => {
    if (Bun.which(name) === null) return;
    proxy = await start({ gateposts: [server.port], panel: panel.port });
  });
  afterAll(() => proxy?.stop());

  const ask = async (method: string, path: string, ...headers: string[]) => {
    const raw = await sendRaw(proxy, [
      `${method} ${path} HTTP/1.1`,
      `Host: ${SUB_HOST}`,
      ...headers,
    ]);
    return raw.replace(/^date: .*\r\n/im, '');
  };

  testHere.each(['GET', 'HEAD', 'POST'])(
    '%s of an unknown key is as of any path',
    async (method) => {
      const usual = await ask(method, '/');
      expect(usual).toStartWith('HTTP/1.1 404');
      expect(usual).not.toMatch(/hwid|announce|x-error/i);
      for (const path of [
        '/nothing',
        '/.well-known/device-messages',
        ...['/register', '/inbox', '/stream', '/'].map(
          (part) => `/.well-known/device-messages${part}`,
        ),
        '/sub/unknown',
        '/sub/unknown/clash?installid=AAAAAAAAAAAA',
      ]) {
        expect([path, await ask(method, path)]).toEqual([path, usual]);
        expect([path, await ask(method, path, 'X-HWID: prober')]).toEqual([path, usual]);
        expect([path, await ask(method, path, 'X-HWID: a b')]).toEqual([path, usual]);
        const token = `Authorization: Bearer ${'x'.repeat(43)}`;
        expect([path, await ask(method, path, token)]).toEqual([path, usual]);
      }
    },
  );

  testHere('a body that is held back does not show where devices register', async () => {
    const held = async (path: string) => {
      const head = [`POST ${path} HTTP/1.1`, `Host: ${SUB_HOST}`, 'Content-Length: 9'];
      // nginx waits for the body before it closes.
      return (await sendRaw(proxy, head, true)).replace(/^date: .*\r\n/im, '');
    };
    const usual = await held('/nothing');
    expect(usual).toStartWith('HTTP/1.1 404');
    expect(await held('/.well-known/device-messages/register')).toBe(usual);
  });

  testHere('a customer is served, and told why another phone is not', async () => {
    expect(await ask('GET', `/sub/${KEY}`, 'X-HWID: phone')).toContain(subscriptionOf(KEY));
    const full = await ask('GET', `/sub/${KEY}`, 'X-HWID: another');
    expect(full).toMatch(/^x-hwid-max-devices-reached: true\r$/im);
    expect(full).toMatch(/^announce: base64:/im);
    expect(await ask('GET', `/sub/${KEY}`)).toMatch(/^x-hwid-not-supported: true\r$/im);
  });
});

test('by the address and at an unknown host Gatepost itself gives an empty 404', async () => {
  const at = { url: server.url, stop: async () => undefined };
  for (const host of ['other.example.org', SUB_HOST]) {
    for (const path of ['/', '/docs', '/console', '/install', '/gate', '/api/list-install']) {
      const raw = await sendRaw(at, [`GET ${path} HTTP/1.1`, `Host: ${host}`]);
      const bare = raw.replace(/^date: .*\r\n/im, '').toLowerCase();
      const expected = path === '/gate' ? /^http\/1\.1 403 / : /^http\/1\.1 404 /;
      expect(bare).toMatch(expected);
      expect(bare.split('\r\n').slice(1).join()).toMatch(
        /^(connection: close,)?content-length: 0,,$/,
      );
    }
  }
});
