/** What an operator is told of a panel: who adds an upstream in the console, and the doctor. */

import { afterEach, expect, test } from 'bun:test';
import { checkPanel } from '../../../src/http/upstream/panel-check.ts';
import type { Upstream } from '../../../src/http/upstream/settings.ts';
import {
  answer,
  PANEL_HEADERS,
  type PanelCall,
  SUBSCRIPTION,
  startPanel,
} from '../../support/panel.ts';
import { HOST, upstreamTo } from '../../support/upstream.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const SERVER = { host: '127.0.0.1', port: 1 };

async function look(
  behave: (call: PanelCall) => Promise<void> | void,
  more: Partial<Upstream> = {},
) {
  const panel = await startPanel(behave);
  closers.push(() => panel.stop());
  const said = await checkPanel(upstreamTo(panel.url, 'EXAMPLE1', more), SERVER);
  return { ...said, asked: panel.calls.map(({ method }) => method), panel };
}

const SUB = answer(200, SUBSCRIPTION, PANEL_HEADERS);
const hangUp = ({ socket }: PanelCall) => void socket.destroy();
/** Answers HEAD with one status and a key with another answer. */
const by = (status: number, key: Uint8Array) => (call: PanelCall) =>
  call.send(call.method === 'HEAD' ? answer(status) : key);
const ofName = { panel: 'remnawave' } as const;

type Row = [string, (call: PanelCall) => Promise<void> | void, Partial<Upstream>, string, string];

const ROWS: readonly Row[] = [
  ['a good one', by(404, answer(404)), {}, 'answers', '404 to HEAD /, 404 to GET /sub/{key}'],
  [
    'one with a page at /',
    by(200, answer(404)),
    {},
    'answers',
    '200 to HEAD /, 404 to GET /sub/{key}',
  ],
  [
    'one that fails at / alone',
    by(502, answer(404)),
    {},
    'answers',
    '502 to HEAD /, 404 to GET /sub/{key}',
  ],
  [
    'one that fails for a key',
    by(200, answer(500)),
    {},
    'fails',
    '200 to HEAD /, 500 to GET /sub/{key}',
  ],
  ['one that fails, without templates', by(500, SUB), { keyPaths: [] }, 'fails', '500 to HEAD /'],
  ['one without templates', by(200, SUB), { keyPaths: [] }, 'answers', '200 to HEAD /'],
  [
    'one that serves any key',
    by(200, SUB),
    {},
    'answers_any_key',
    '200 to GET /sub/{key} with a made-up key',
  ],
  [
    'a named one that serves any key',
    by(200, SUB),
    ofName,
    'answers_any_key',
    '200 to GET /sub/{key} with a made-up key',
  ],
  // Without a name each 2xx may be a subscription.
  [
    'another text for any key',
    by(200, answer(200, 'hello')),
    {},
    'answers_any_key',
    '200 to GET /sub/{key} with a made-up key',
  ],
  [
    'another text of a named one',
    by(200, answer(200, 'hello')),
    ofName,
    'answers',
    '200 to HEAD /, 200 to GET /sub/{key}',
  ],
  ['one that hangs up', hangUp, {}, 'drops', ''],
  [
    'one that hangs up but at a preflight',
    (call) => (call.method === 'OPTIONS' ? call.send(answer(204)) : hangUp(call)),
    {},
    'answers',
    '204 to OPTIONS /, a closed connection to GET /sub/{key}',
  ],
  [
    'one that speaks no HTTP',
    ({ send }) => send('220 mail.example ESMTP\r\n'),
    {},
    'silent',
    'HPE_',
  ],
];

test.each(ROWS)('%s', async (_, behave, more, state, detail) => {
  const said = await look(behave, more);
  expect(said.state as string).toBe(state);
  expect(said.detail).toContain(detail);
});

test('it is asked as the proxy asks, with a key that no user has', async () => {
  const { asked, panel } = await look(by(404, answer(404)));
  expect(asked).toEqual(['HEAD', 'GET']);
  for (const { head } of panel.calls) {
    expect(head.toLowerCase()).toContain(`host: ${HOST}`);
    expect(head.toLowerCase()).toContain('x-forwarded-proto: https');
  }
  expect(panel.calls[1]?.target).toMatch(/^\/sub\/[\da-f-]{36}$/);
});

test('a preflight names the host of the gate', async () => {
  const { panel } = await look(hangUp);
  const preflight = panel.calls.find(({ method }) => method === 'OPTIONS');
  expect(preflight?.head.toLowerCase()).toContain(`origin: https://${HOST}`);
});

test.each([
  ['http://127.0.0.1:1', true],
  ['http://localhost:1/base', true],
  ['http://[::1]:1', true],
  ['https://127.0.0.1:1', true],
  ['http://gate.example:1', true],
  ['http://127.0.0.1:9', false],
])('%s is the address of the server itself: %p', async (url, isOwn) => {
  const upstream = { ...upstreamTo(url, 'EXAMPLE1'), keyPaths: [] };
  const { state } = await checkPanel(upstream, { host: 'gate.example', port: 1 });
  expect(state === 'own_address').toBe(isOwn);
});

test.each([
  ['http://gate.example', 80],
  ['https://gate.example', 443],
])('%s has its standard port', async (url, port) => {
  const upstream = upstreamTo(url, 'EXAMPLE1');
  expect((await checkPanel(upstream, { host: 'gate.example', port })).state).toBe('own_address');
});
