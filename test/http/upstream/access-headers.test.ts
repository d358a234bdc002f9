/** A panel behind an access gateway: its API gets the gateway's headers, and nothing else does. */

import { afterEach, expect, test } from 'bun:test';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { PANELS } from '../../../src/core/panel/kind.ts';
import { lookAtApi } from '../../../src/http/upstream/panel-api.ts';
import { sourceOf } from '../../../src/http/upstream/panel-source.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import { answer, PANEL_HEADERS, SUBSCRIPTION } from '../../support/panel.ts';
import { tokensOf } from '../../support/panel-api.ts';
import { type Fronted, KEY, startFronted, upstreamTo } from '../../support/upstream.ts';

const TOKEN = 'token-of-the-panel';
const SECRET = 'PLANTED-secret-of-the-gateway';
const FILES: Readonly<Record<string, string>> = {
  '/token': TOKEN,
  '/headers': `CF-Access-Client-Id: an-id\nCF-Access-Client-Secret: ${SECRET}\nAuthorization: x\n`,
};
const secretOf = (file: string) => FILES[file] ?? null;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that notes the headers of its requests. */
function startServer(fetch: (request: Request) => Response) {
  const seen: Headers[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => {
      seen.push(request.headers);
      return fetch(request);
    },
  });
  closers.push(() => server.stop(true));
  return { url: server.url.origin, seen };
}

const REACHED: Partial<Upstream> = {
  panelTokenFile: '/token',
  panelHeadersFile: '/headers',
  limits: 'panel' as const,
  panel: 'remnawave' as const,
};

const keepFront = (fronted: Fronted) => {
  closers.push(() => fronted.stop());
  return fronted;
};

test('the API gets them with the token, which wins; a subscription never does', async () => {
  const api = startServer(() => Response.json({ response: { hwidDeviceLimit: 7 } }));
  const fronted = keepFront(
    await startFronted(undefined, { ...REACHED, panelUrl: api.url }, { secretOf }),
  );
  await fronted.get(`/sub/${KEY}`, 'a');
  expect(await fronted.links()).toMatchObject([{ limit: 7 }]);
  const names = ['cf-access-client-id', 'cf-access-client-secret', 'authorization'];
  expect(api.seen.map((headers) => names.map((name) => headers.get(name)))).toEqual([
    ['an-id', SECRET, `Bearer ${TOKEN}`],
  ]);
  expect(fronted.panel.calls.length).toBeGreaterThan(0);
  for (const { head } of fronted.panel.calls) expect(head).not.toMatch(/cf-access|PLANTED/i);
});

test('a redirect takes them nowhere, and no line of the log has them', async () => {
  const other = startServer(() => Response.json({}));
  const api = startServer(() => Response.redirect(other.url, 307));
  const fronted = keepFront(
    await startFronted(
      ({ send }) => send(answer(200, SUBSCRIPTION, PANEL_HEADERS)),
      { ...REACHED, panelUrl: api.url },
      { secretOf },
    ),
  );
  await fronted.get(`/sub/${KEY}`, 'a');
  expect(api.seen.length).toBeGreaterThan(0);
  expect(other.seen).toEqual([]);
  const lines = fronted.app.logLines.join('');
  expect(lines).toContain('panel_api_failed');
  expect(lines).not.toContain('PLANTED');
});

test.each([...PANELS])('the doctor asks the API of %s with them', async (panel) => {
  const api = startServer(() => new Response('sign in', { status: 403 }));
  const signed = panel === 'marzban' || panel === 'pasarguard' ? { key: panel } : {};
  const more = { ...REACHED, panel, ...signed, panelUrl: api.url };
  const source = sourceOf(upstreamTo(api.url, 'EXAMPLE1', more));
  const look = source && (await lookAtApi(source, tokensOf(secretOf), true));
  expect(look).toEqual({ code: 'API_403', admin: '' });
  expect(api.seen.map((headers) => headers.get('cf-access-client-secret'))).toEqual([SECRET]);
  const own = PANEL_TRAITS[panel].api.headersOf(TOKEN);
  for (const [name, value] of Object.entries(own)) expect(api.seen[0]?.get(name)).toBe(value);
});
