/**
 * Bun's parser and bytes behind a request (docs/limits.md, "Behind a request"). What it answers is
 * not ours to mend; that nothing is changed for a caller who hears 400 or nothing at all, is. The
 * answers are told exactly: when a new Bun gives others, the document has to follow.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { Lane } from '../support/raw-http.ts';
import { difference, takeSnapshot } from '../support/snapshot.ts';

let app: TestApp;
let own: Credentials;
beforeAll(async () => {
  app = await startTestApp();
  own = await seedProvider(app);
});
afterAll(() => app.close());

const HEAD = ' HTTP/1.1\r\nhost: localhost\r\n';
const COMMAND = JSON.stringify({ action_type: 'update-subscription', os: ['android'] });
const target = (path: string, query = '') =>
  `${path}?provider_code=${own.code}&auth_key=${own.authKey}${query}`;

const add = () => `GET ${target('/api/add-install', '&install_limit=1')}${HEAD}\r\n`;
const list = () => `GET ${target('/api/list-install', '&id=999')}${HEAD}\r\n`;
const send = (headers = '') =>
  `POST ${target('/remote/command')}${HEAD}${headers}content-length: ${COMMAND.length}\r\n\r\n${COMMAND}`;
const sendInChunks = (trailer: string) =>
  `POST ${target('/remote/command')}${HEAD}transfer-encoding: chunked\r\n\r\n${COMMAND.length.toString(16)}\r\n${COMMAND}\r\n0\r\n${trailer}\r\n`;

/** The status of each answer to what goes out at once; null: closed without a word. */
async function exchange(bytes: string, count: number) {
  const lane = new Lane(Number(new URL(app.url).port));
  const before = await takeSnapshot(app);
  const answers = await lane.exchange(Buffer.from(bytes), count, false);
  lane.drop();
  // Whatever was still to be written has been when the next write is answered.
  await call(app, '/api/delete-hwid', own, { install_id: 1, hwid: 'nobody' });
  const isChanged = difference(before, await takeSnapshot(app)).length > 0;
  return { statuses: answers.map(({ status }) => status), isChanged };
}

const TURNED_AWAY: [string, () => string, number | null][] = [
  ['a line break behind the body', () => `${send()}\r\n`, 400],
  ['a line feed behind the body', () => `${send()}\n`, 400],
  ['a line break behind the body, then a request', () => `${send()}\r\n${list()}`, 400],
  ['a line break behind a GET that changes something', () => `${add()}\r\n`, 400],
  ['no request behind the body', () => `${send()}junk\r\n\r\n`, 400],
  ['a trailer behind the chunks', () => sendInChunks('x-checksum: 1\r\n'), 400],
  ['a request behind a POST', () => send() + list(), null],
  ['a request behind a GET that changes something', () => add() + list(), null],
  ['a second POST behind the first', () => send() + send(), null],
];

test.each(TURNED_AWAY)('%s: nothing is changed', async (_, bytes, status) => {
  expect(await exchange(bytes(), 1)).toEqual({ statuses: [status], isChanged: false });
});

const SERVED: [string, () => string, number[], boolean][] = [
  ['the same without it', () => send(), [200], true],
  ['chunks without a trailer', () => sendInChunks(''), [200], true],
  [
    'a line break on a connection that is to be closed',
    () => `${send('connection: close\r\n')}\r\n`,
    [200],
    true,
  ],
  ['a request behind one that reads', () => list() + list(), [200, 200], false],
  ['a change behind a request that reads', () => list() + add(), [200, 200], true],
  ['a line break behind a request that reads', () => `${list()}\r\n`, [200, 400], false],
];

test.each(SERVED)('%s: is answered', async (_, bytes, statuses, isChanged) => {
  expect(await exchange(bytes(), statuses.length)).toEqual({ statuses, isChanged });
});

test('one after the other on one connection, each after the answer to the one before', async () => {
  const lane = new Lane(Number(new URL(app.url).port));
  for (const request of [send(), add(), list(), send()]) {
    const [answer] = await lane.exchange(Buffer.from(request), 1, false);
    expect(answer?.body).toStartWith('{"rc":1');
  }
  lane.drop();
});
