/** What people read when a real proxy, with its file of the documents, refuses their app. */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { hostHash } from '../../src/core/host-name.ts';
import { call } from '../support/app.ts';
import { testWith } from '../support/needs.ts';
import { addProviderByCommand, type ServerProcess, startServe } from '../support/process.ts';
import { FRONT_PROXIES, type FrontProxy, SUB_HOST } from '../support/proxies.ts';
import { announced, REFUSED_APPS } from '../support/refused-apps.ts';
import { bind, expectOk } from '../support/shop.ts';
import { type SmallPanel, startSmallPanel } from '../support/small-panel.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const KEY = 'key-of-one-device';
const TEXTS = {
  ru: { link_limit_reached: 'Два устройства уже подключены.', hwid_required: 'Нужен HWID.' },
};

const DROPPED =
  /^(?:status 403|update failed|unexpected error|no proxies|log: (?:status )?403.*)$/s;

let panel: SmallPanel;
let server: ServerProcess;

beforeAll(async () => {
  panel = startSmallPanel();
  const env = {
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
    GATEPOST_GATE_TEXT: JSON.stringify(TEXTS),
  };
  server = await startServe({ env });
  const own = await addProviderByCommand(server.dataDir);
  await bind(server, own, hostHash(SUB_HOST));
  const link = { install_limit: 1, subscription_key: KEY };
  await expectOk(call(server, '/api/add-install', own, link));
});
afterAll(() => panel.stop());

async function get({ url }: FrontProxy, headers: Record<string, string>) {
  const response = await fetch(`${url}/sub/${KEY}`, {
    headers: { host: SUB_HOST, 'accept-language': 'ru', ...headers },
    tls: { rejectUnauthorized: false },
  } as RequestInit);
  return { status: response.status, headers: response.headers, body: await response.text() };
}

describe.each(FRONT_PROXIES)('%s', (name, start) => {
  const testHere = testWith(name);
  let proxy: FrontProxy;

  beforeAll(async () => {
    if (Bun.which(name) === null) return;
    proxy = await start({ gateposts: [server.port], panel: panel.port });
    expect((await get(proxy, { 'x-hwid': 'first' })).status).toBe(200);
  });
  afterAll(() => proxy?.stop());

  testHere.each(REFUSED_APPS.map((app) => [app.name, app] as const))(
    'gives %s the reason in `announce`, which most apps drop with the status',
    async (appName, { reads, sendsHwid, userAgent }) => {
      const device = sendsHwid ? { 'x-hwid': 'second' } : {};
      const answer = await get(proxy, { 'user-agent': userAgent, ...device });
      const { hwid_required, link_limit_reached } = TEXTS.ru;
      expect(answer.status).toBe(403);
      expect(announced(answer.headers)).toBe(sendsHwid ? link_limit_reached : hwid_required);
      expect(answer.headers.get('x-hwid-limit')).toBe(sendsHwid ? 'true' : null);
      const shown = reads(answer);
      if (appName.startsWith('Clod Clash'))
        expect(shown).toContain(`notice: ${link_limit_reached}`);
      else if (appName === 'Prizrak-Box for Android') expect(shown).toBe('notice of its own: full');
      else expect(shown).toMatch(DROPPED);
    },
  );
});
