/**
 * What the users of existing apps see of a notification, through real proxies with their files of
 * the documents, in front of a panel that knows nothing of it.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { encodeText } from '../../src/core/ride/text.ts';
import { call } from '../support/app.ts';
import { notify } from '../support/messaging.ts';
import { testWith } from '../support/needs.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { FRONT_PROXIES, type FrontProxy, SUB_HOST } from '../support/proxies.ts';
import { announced } from '../support/refused-apps.ts';
import { formOf, LINK_URL, ofApp, TEXTS } from '../support/rides.ts';
import {
  LINKED_APPS,
  NOTHING,
  RIDING_APPS,
  type RidingApp,
  SHOWING_APPS,
  type Shown,
} from '../support/riding-apps.ts';
import { addLink, bind, enter, expectOk } from '../support/shop.ts';
import { type SmallPanel, startSmallPanel, subscriptionOf } from '../support/small-panel.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const LANGUAGES = [
  ['ru', 'RU', 'Открыть'],
  ['fa', 'FA', 'باز کردن'],
  ['zh', 'CN', '打开'],
  ['en', 'de', 'Open'],
] as const;

let panel: SmallPanel;
let server: ServerProcess;
let first: Credentials;

beforeAll(async () => {
  panel = startSmallPanel();
  const providerId = join(temporaryFolder(), 'provider-id');
  writeFileSync(providerId, 'Provider1\n', { mode: 0o600 });
  const dataDir = join(temporaryFolder(), 'data');
  first = await addProviderByCommand(dataDir, '--code', CODE, '--key', 'k'.repeat(32));
  const upstream = {
    host: OWN_HOST,
    url: `http://127.0.0.1:${panel.port}`,
    provider: CODE,
    default_limit: 100,
    provider_id_file: providerId,
  };
  server = await startServe({
    dataDir,
    env: {
      GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]),
      GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
      GATEPOST_GATE_RIDE: 'notifications',
      GATEPOST_GATE_PROVIDER_ID_FILE: providerId,
    },
  });
});
afterAll(() => panel.stop());

/** The host of the panel behind Gatepost as the proxy. */
const OWN_HOST = 'own.example.org';
const CODE = 'EXAMPLE1';

interface Way {
  own: Credentials;
  host: string;
  proxy: FrontProxy;
}

type Start = (typeof FRONT_PROXIES)[number][1];

/** A provider of its own for each way: general notifications need minutes between them. */
async function open(start: Start | null, key: string): Promise<Way> {
  const proxy = await start?.({ gateposts: [server.port], panel: panel.port });
  const own = proxy ? await addProviderByCommand(server.dataDir) : first;
  const host = proxy ? SUB_HOST : OWN_HOST;
  if (proxy) await bind(server, own, hostHash(host));
  const link = { install_limit: 100, subscription_key: key };
  await expectOk(call(server, '/api/add-install', own, link));
  const { code } = await addLink(server, own, null);
  await enter(server, `elsewhere-${key}`, code, hostHash(host));
  return { own, host, proxy: proxy ?? { url: server.url, stop: async () => undefined } };
}

const WAYS: [string, Start | null][] = [
  ...FRONT_PROXIES.map(([name, start]) => [name, start] as [string, Start]),
  ['Gatepost', null],
];

describe.each(WAYS)('%s', (name, start) => {
  const testHere = start === null ? test : testWith(name);
  const key = `key-of-${name}`;
  let way: Way;

  beforeAll(async () => {
    if (start === null || Bun.which(name) !== null) way = await open(start, key);
  });
  afterAll(() => way?.proxy.stop());

  async function get(headers: Record<string, string>, hwid: string, query = '') {
    const response = await fetch(`${way.proxy.url}/sub/${key}${query}`, {
      headers: { host: way.host, 'x-hwid': hwid, ...headers },
      tls: { rejectUnauthorized: false },
    } as RequestInit);
    return { status: response.status, headers: response.headers, body: await response.text() };
  }

  /** What is seen in an app whose rule is known; `before` was seen until then. */
  async function seenIn(app: RidingApp, language: string, query = '', before?: Shown) {
    const hwid = app.name.replaceAll(' ', '-');
    const got = await get(ofApp(app.name, language), hwid, query);
    expect([app.name, got.status, got.body]).toEqual([app.name, 200, subscriptionOf(key)]);
    return app.shows(got.headers, before);
  }

  testHere(
    'each app shows a notification, until it ends, in the language of its user',
    async () => {
      const form = {
        ...formOf(TEXTS.en),
        link_for_open: LINK_URL,
        locales: { RU: formOf(TEXTS.ru), FA: formOf(TEXTS.fa), CN: formOf(TEXTS.zh) },
      };
      const id = await notify(server, way.own, form.body, { os: ['ios', 'android'] }, form);
      await until('it rides', async () =>
        (await get(ofApp('INCY'), 'first')).headers.has('announce'),
      );
      const boxes = new Map<string, Shown>();
      for (const app of RIDING_APPS) {
        for (const [language, tag, button] of LANGUAGES) {
          const shown = await seenIn(app, tag);
          if (shown === null) continue;
          const text = TEXTS[language];
          const isHapp = app.name === 'Happ';
          expect([app.name, shown]).toEqual([
            app.name,
            {
              ...NOTHING,
              announcement: SHOWING_APPS.includes(app.name) ? text : null,
              link: LINKED_APPS.includes(app.name) ? LINK_URL : null,
              box: isHapp ? { text, color: 'blue', button, link: LINK_URL } : null,
            },
          ]);
          boxes.set(app.name, shown);
        }
      }
      // Beside an announcement of the panel, the message stands in its place.
      const theirs = `?answer-announce=${encodeURIComponent(encodeText('of the panel'))}`;
      for (const app of RIDING_APPS.filter((one) => SHOWING_APPS.includes(one.name))) {
        expect((await seenIn(app, 'RU', theirs))?.announcement).toBe(TEXTS.ru);
      }
      const { code } = await run(['distribution', 'block', String(id), '--data', server.dataDir]);
      expect(code).toBe(0);
      for (const app of RIDING_APPS) {
        const before = boxes.get(app.name);
        if (before === undefined) continue;
        const after = await seenIn(app, 'RU', theirs, before);
        const announcement = SHOWING_APPS.includes(app.name) ? 'of the panel' : null;
        // It keeps the link until another comes.
        const link = app.name === 'Prizrak-Box' ? LINK_URL : null;
        expect([app.name, after]).toEqual([app.name, { ...NOTHING, announcement, link }]);
      }
    },
  );

  testHere(
    'one of 300 characters that names a device is cut for it, and is for no other',
    async () => {
      const words = 'слово 🚀 '.repeat(34);
      await get(ofApp('INCY'), 'other');
      await notify(server, way.own, words, { hwid: 'INCY' });
      const shown = async (hwid: string) => announced((await get(ofApp('INCY'), hwid)).headers);
      await until('it rides', async () => (await shown('INCY')) !== '');
      expect(await shown('INCY')).toBe(`${'слово 🚀 '.repeat(22).trim()}…`);
      expect(await shown('other')).toBe('');
    },
  );
});
