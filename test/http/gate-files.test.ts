/**
 * The files of Traefik and Envoy, whose programs are in no distribution: what they would ask, by
 * their documents, is read from the files and asked. Real proxies are in test/e2e/gate.test.ts.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { APP_MOVES } from '../../src/core/app-moves.ts';
import { hostHash } from '../../src/core/host-name.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { factParams } from '../../src/http/endpoints/app.ts';
import { parseTrustedProxies } from '../../src/http/request/address.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { CLAIMING, OVERRIDING } from '../support/proxies.ts';
import { addLink, bind } from '../support/shop.ts';
import { readText } from '../support/tree.ts';

const HOST = 'sub.example.com';
const CODE = 'LinkOfFiles1';
const URI = `/sub/any-key?installid=${CODE}&a=/../b`;

/** The headers that an app describes its device in, and its language. */
const WORDS = [
  ...Object.values(factParams).map(({ header }) => header ?? ''),
  'accept-language',
  'x-device-locale',
];

/** A client that would rather be asked about as another. */
const client = (hwid: string): Record<string, string> => ({
  ...Object.fromEntries(WORDS.map((name) => [name, `word of ${name}`])),
  'x-hwid': hwid,
  'x-original-uri': '/sub/other',
  'x-original-url': 'https://other.example.com/',
  'x-original-method': 'HEAD',
  'x-forwarded-uri': '/sub/other',
  'x-forwarded-host': 'other.example.com',
  'x-forwarded-method': 'HEAD',
});

let app: TestApp;
let own: Credentials;

beforeAll(async () => {
  app = await startTestApp({ trustedProxies: parseTrustedProxies(['127.0.0.1']) });
  own = await seedProvider(app);
  await bind(app, own, hostHash(HOST));
  await addLink(app, own, CODE);
});

afterAll(() => app.close());

/** The client's headers that a proxy hands on. */
function handedOn(names: readonly string[], hwid: string): Record<string, string> {
  const isOne = new Set(names.map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(client(hwid)).filter(([name]) => isOne.has(name)));
}

async function expectLetIn(url: string, headers: Record<string, string>, hwid: string) {
  const response = await fetch(url, { headers });
  expect(response.status).toBe(204);
  const { json } = await call(app, '/api/list-hwid', own, { install_code: CODE, hwid });
  expect(json.data).toMatchObject([{ hwid, device_name: 'word of x-device-model' }]);
}

/** The name as the file of Traefik writes it. */
const canonical = (name: string) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase());

test('Traefik', async () => {
  const { http } = Bun.YAML.parse(readText('docs/gate/traefik.yml')) as {
    http: {
      routers: { subscriptions: { rule: string; middlewares: string[] } };
      middlewares: {
        gate: {
          forwardAuth: {
            address: string;
            trustForwardHeader: boolean;
            authRequestHeaders: string[];
          };
        };
        plain: {
          headers: {
            customRequestHeaders: Record<string, string>;
            customResponseHeaders: Record<string, string>;
          };
        };
      };
    };
  };
  const { address, trustForwardHeader, authRequestHeaders } = http.middlewares.gate.forwardAuth;
  expect(http.routers.subscriptions.rule).toBe(`Host(\`${HOST}\`) && PathPrefix(\`/sub/\`)`);
  expect(http.routers.subscriptions.middlewares).toEqual(['gate', 'plain']);
  expect(trustForwardHeader).toBe(false);
  const passed = [...WORDS, 'authorization'].sort();
  expect(authRequestHeaders.map((name) => name.toLowerCase()).sort()).toEqual(passed);
  const emptied = Object.entries(http.middlewares.plain.headers.customRequestHeaders);
  const names = emptied.map(([name]) => name.toLowerCase());
  const wrong = [...Object.keys(OVERRIDING), ...Object.keys(CLAIMING), 'upgrade'];
  expect(names.sort()).toEqual(wrong.sort());
  expect(emptied.filter(([, value]) => value !== '')).toEqual([]);
  expect(http.middlewares.plain.headers.customResponseHeaders).toEqual({
    'Cache-Control': 'private, no-store',
    Vary: 'Accept-Encoding, x-hwid',
    ...Object.fromEntries(APP_MOVES.map((name) => [canonical(name), ''])),
    'X-Device-Server': '',
  });
  // Set by Traefik itself: "Forward-Request Headers" of its documents.
  const ours = {
    'x-forwarded-method': 'GET',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': HOST,
    'x-forwarded-uri': URI,
    'x-forwarded-for': '198.51.100.7',
  };
  const headers = { ...handedOn(authRequestHeaders, 'behind-traefik'), ...ours };
  const url = address.replace('http://127.0.0.1:8080', app.url);
  await expectLetIn(url, headers, 'behind-traefik');
});

test('Envoy', async () => {
  const file = JSON.stringify(Bun.YAML.parse(readText('docs/gate/envoy.yaml')));
  const found = (pattern: RegExp) => pattern.exec(file)?.[1] ?? '';
  for (const setting of [
    '"normalize_path":true',
    '"merge_slashes":true',
    '"path_with_escaped_slashes_action":"REJECT_REQUEST"',
    '"failure_mode_allow":false',
    '"use_remote_address":true',
    '"headers_with_underscores_action":"DROP_HEADER"',
    '"response_headers_to_remove":["x-hwid-active","x-device-server",',
    '"header":{"key":"vary","value":"x-hwid"}',
    '"header":{"key":"cache-control","value":"private"}',
    '"prefix":"/sub/"',
    '{"exact":"announce"}',
    '"dynamic_metadata_from_headers":{"patterns":[{"safe_regex":{"regex":".*"}}]}',
    `"domains":["${HOST}"]`,
  ]) {
    expect(file).toContain(setting);
  }
  const allowed = JSON.parse(found(/"allowed_headers":\{"patterns":(\[.*?\])\}/)) as {
    exact: string;
  }[];
  const names = allowed.map(({ exact }) => exact);
  const passed = [...WORDS, 'authorization', 'x-forwarded-proto'].sort();
  expect([...names].sort()).toEqual(passed);
  const removed = JSON.parse(found(/"request_headers_to_remove":(\[.*?\])/)) as string[];
  const wrong = [...Object.keys(OVERRIDING), ...Object.keys(CLAIMING), 'x-real-ip'];
  expect(removed.sort()).toEqual(wrong.sort());
  // The path behind the prefix as it is, and the client's host: without being told to.
  const url = `${app.url}${found(/"path_prefix":"(.*?)"/)}${URI}`;
  await expectLetIn(url, { ...handedOn(names, 'behind-envoy'), host: HOST }, 'behind-envoy');
});
