/** Large answers of the console take part in the room of unread answers; small ones do not. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { ConsoleBrowser } from '../../support/console.ts';

const COUNT = 40;
const NOTE = '😀'.repeat(255);
/** No large answer has a place, and none may wait. */
const NO_ROOM = { bytesMax: 1, bytesPerCallerMax: 1, waitingMax: 0, waitingPerPartyMax: 0 };

let app: TestApp;
let browser: ConsoleBrowser;
let at: string;
beforeAll(async () => {
  app = await startTestApp({ room: NO_ROOM });
  const own = await seedProvider(app);
  at = own.code;
  for (let n = 0; n < COUNT; n += 1) {
    await call(app, '/api/add-install', own, { install_limit: 1, note: NOTE });
  }
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: at, key: own.authKey });
});
afterAll(() => app.close());

test('one without a place is refused and counted, a small one is answered', async () => {
  const filter = { search: null, status: null, isFull: false };
  const list = (countMax: number) =>
    browser.call('links.list', { at, filter, isOldest: false, beyondId: null, countMax });
  const { answers: before } = app.server.limited();
  expect((await list(2)).ok?.rows).toHaveLength(2);
  expect(app.server.limited().answers).toBe(before);
  expect(await list(COUNT)).toEqual({ refused: 'too_many_requests', detail: null });
  expect(app.server.limited().answers).toBe(before + 1);
});
