/**
 * A message of the greatest size rides on the answer of a panel with long headers and a long body,
 * through Gatepost as the proxy and the real proxies that the documents put in front of it.
 */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import { freePort } from '../support/free-port.ts';
import { notify } from '../support/messaging.ts';
import { testWith } from '../support/needs.ts';
import { MADE_UP } from '../support/panel.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import {
  type FrontProxy,
  SUB_HOST,
  startHaproxyForNodes,
  startNginxForNodes,
  startNginxSite,
} from '../support/proxies.ts';
import { announced } from '../support/refused-apps.ts';
import { ofApp } from '../support/rides.ts';
import { readText } from '../support/tree.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** The longest text that rides, of letters that are two bytes each. */
const TEXT = `${'слово '.repeat(33).trim()}!`;
const LINK = `https://example.com/${'a'.repeat(440)}`;
const BUTTON = `https://example.com/${'b'.repeat(180)}`;
/** What Happ reads for its routing, as Remnawave sends it: alone it fits into nginx's 4 KB. */
const ROUTING = `happ://routing/onadd/${'A'.repeat(2_300)}`;
/** Longer than the buffers of the proxies. */
const BODY = Buffer.from('vless://one@node.example.com:443#one\n'.repeat(8_000)).toString('base64');
const BUFFERS = ['proxy_buffer_size 32k;', 'proxy_buffers 8 32k;'];

const panel = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: ({ url }) =>
    MADE_UP.test(url)
      ? new Response(null, { status: 404 })
      : new Response(BODY, {
          headers: { 'profile-title': 'Panel', 'profile-update-interval': '12', routing: ROUTING },
        }),
});
afterAll(() => panel.stop(true));

let server: ServerProcess;

beforeAll(async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const own = await addProviderByCommand(dataDir);
  const set = ['provider', 'set', own.code, '--buttons', 'always', '--data', dataDir];
  const { code } = await run([...set, '--support-url', BUTTON, '--web-page-url', BUTTON]);
  expect(code).toBe(0);
  server = await startRiding(dataDir, own);
  expect((await fetched(server)).status).toBe(200);
  await notify(server, own, TEXT, { os: ['ios', 'android'] }, { link_for_open: LINK });
  await until('it rides', async () => (await fetched(server)).headers.has('announce'));
});

/** Starts Gatepost as the proxy, with a Provider ID, so that Happ gets all that may ride. */
async function startRiding(dataDir: string, own: Credentials): Promise<ServerProcess> {
  const providerId = join(temporaryFolder(), 'provider-id');
  writeFileSync(providerId, 'Provider1\n', { mode: 0o600 });
  const upstream = {
    host: SUB_HOST,
    url: `http://127.0.0.1:${panel.port}`,
    provider: own.code,
    default_limit: 10,
    provider_id_file: providerId,
  };
  const env = {
    GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]),
    GATEPOST_TRUSTED_PROXIES: '127.0.0.1',
  };
  return startServe({ dataDir, env });
}

const PHONE = { 'x-hwid': 'phone-1', ...ofApp('Happ', 'RU') };
/** The message is for phones alone. */
const DESKTOP = { 'x-hwid': 'desktop-1', 'user-agent': 'Throne/1', 'x-device-os': 'Windows' };

const fetched = ({ url }: { url: string }, device: Record<string, string> = PHONE) =>
  fetch(`${url}/sub/key-of-one`, { headers: { host: SUB_HOST, ...device } });

/** nginx with the lines that the page of Remnawave has for it. */
function startNginxOfGuide(gatepost: number): Promise<FrontProxy> {
  const port = freePort();
  const [, lines = ''] = /```nginx\n(.*?)```/s.exec(readText('docs/panel-remnawave.md')) ?? [];
  expect(lines).toContain('proxy_pass http://127.0.0.1:8080;');
  const site = [
    `server { listen 127.0.0.1:${port}; server_name ${SUB_HOST}; location / {`,
    lines.replace('127.0.0.1:8080', `127.0.0.1:${gatepost}`),
    'proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; } }',
  ];
  return startNginxSite(site.join('\n'), port);
}

describe.each([
  ['nginx', 'docs/several-nodes/nginx.conf', startNginxForNodes],
  ['nginx', 'docs/panel-remnawave.md', startNginxOfGuide],
  ['haproxy', 'docs/several-nodes/haproxy-nodes.cfg', startHaproxyForNodes],
] as const)('%s with %s', (name, _page, start) => {
  testWith(name)('the message, the buttons, the headers and the body arrive', async () => {
    const proxy = await start(server.port);
    const { status, headers, ...answer } = await shownBy(proxy);
    expect(status).toBe(200);
    expect(announced(headers)).toBe(TEXT);
    expect(headers.get('sub-info-text')).toBe(headers.get('announce'));
    for (const button of ['support-url', 'profile-web-page-url']) {
      expect(headers.get(button)).toBe(BUTTON);
    }
    expect(headers.get('routing')).toBe(ROUTING);
    expect(answer.text === BODY).toBe(true);
    await proxy.stop();
  });
});

async function shownBy(proxy: FrontProxy) {
  const response = await fetched(proxy);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

testWith('nginx')(
  'without these lines nginx answers 502, and logs what the page says',
  async () => {
    const page = readText('docs/trouble.md');
    for (const line of BUFFERS) expect(page).toContain(`\`${line}\``);
    const [, words = ''] = /`(upstream sent [^`]+)`/.exec(page) ?? [];
    const proxy = await startNginxForNodes(
      server.port,
      BUFFERS.map((line) => [line, '']),
    );
    expect((await fetched(proxy, DESKTOP)).status).toBe(200);
    expect((await fetched(proxy)).status).toBe(502);
    expect(words).not.toBe('');
    await until('the log has it', () => proxy.log().includes(words));
    await proxy.stop();
  },
);
