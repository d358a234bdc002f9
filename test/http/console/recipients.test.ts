/**
 * The recipients of a message by the ways to them: the command line before and after the send, the
 * console's calls before and after it, and a recount in the database say the same.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { type ReachWays, WAYS } from '../../../src/core/port/message-reach.ts';
import type { Credentials } from '../../../src/core/provider.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../../support/app.ts';
import { besideOf } from '../../support/beside.ts';
import { runHere } from '../../support/command-line.ts';
import { ConsoleBrowser } from '../../support/console.ts';
import { byBinding, inbox, register } from '../../support/messaging.ts';
import { addLink, bind, HASH, LINK } from '../../support/shop.ts';
import { openStream } from '../../support/stream.ts';
import { until } from '../../support/until.ts';

/** The devices of each kind, so that no two counts are equal. */
const EXPECTED: ReachWays = { inbox: 4, stream: 3, push: 2, fetch: 5, unknown: 6, none: 1 };
const names = (way: keyof ReachWays) =>
  Array.from({ length: EXPECTED[way] }, (_, n) => `${way}-${n}`);
const ONE_EACH: ReachWays = { inbox: 0, stream: 1, push: 1, fetch: 1, unknown: 1, none: 1 };
/** A send names five HWIDs at most. */
const HWIDS = WAYS.flatMap((way) => (ONE_EACH[way] > 0 ? `${way}-0` : [])).join(',');

let app: TestApp;
let own: Credentials;
let browser: ConsoleBrowser;
let streams: Awaited<ReturnType<typeof openStream>>[];
let settings: string;

/** Fetches a subscription as an app does, by the one link; takes a slot. */
async function fetchBy(hwid: string, userAgent: string) {
  const query = { id: HASH, installid: LINK, hwid, os_name: 'Android' };
  const headers = { 'user-agent': userAgent };
  expect((await call(app, '/install', null, query, { headers })).json.rc).toBe(1);
}

beforeAll(async () => {
  app = await startTestApp(
    {
      rides: { level: 'on', hours: 10 },
      bounds: { gateRide: 'on', gateUpdateIntervalHours: 6 },
    },
    (core) => Object.assign(core, { gateways: () => ['fcm'] }),
  );
  // Commands go by the clock of the machine.
  app.clock.set(systemClock.nowMs());
  own = await seedProvider(app);
  await bind(app, own);
  await addLink(app, own, LINK, 20);
  for (const hwid of names('inbox')) await inbox(app, await register(app, byBinding(hwid, own)));
  for (const [n, hwid] of names('push').entries()) {
    await register(app, { ...byBinding(hwid, own), push: { gateway: 'fcm', token: `token-${n}` } });
  }
  const held = names('stream').map(async (hwid) =>
    openStream(app, await register(app, byBinding(hwid, own))),
  );
  streams = await Promise.all(held);
  for (const hwid of names('fetch')) await fetchBy(hwid, 'Happ/3.1');
  for (const hwid of names('unknown')) await fetchBy(hwid, 'Shadowrocket/2701');
  for (const hwid of names('none')) await fetchBy(hwid, 'Karing/2.0');
  browser = new ConsoleBrowser(app.url);
  await browser.get('session.key', { code: own.code, key: own.authKey });
  settings = join(app.dataDir, 'settings.toml');
  writeFileSync(
    settings,
    '[gateway.fcm]\nservice_account = "x"\n[gate]\nride = "on"\nupdate_interval_hours = 6\n',
  );
  await until(
    'the streams to be noted',
    async () => counted('SELECT sum(has_stream) AS n FROM device_token') === 3,
  );
});
afterAll(async () => {
  for (const { socket } of streams) socket.close();
  await app.close();
});

function counted(sql: string): number {
  const beside = besideOf(app);
  try {
    return Number(beside.query<{ n: number }, []>(sql).get()?.n);
  } finally {
    beside.close();
  }
}

/** Counts the recipients of a message again, by statements of the test's own. */
function recount(id: number): ReachWays {
  const ofLedger = (where: string) =>
    counted(`SELECT count(*) AS n FROM recipient r JOIN device d ON d.id = r.device_id
      LEFT JOIN device_provider p ON p.device_id = r.device_id AND p.provider_id = r.inbox
      LEFT JOIN device_token t ON t.id = p.token_id
      WHERE r.distribution_id = ${id} AND ${where}`);
  const asks = 't.id IS NOT NULL AND r.push_state IS NULL';
  const rides = (agent: string) =>
    ofLedger(`t.id IS NULL AND p.user_agent LIKE '${agent}/%' AND p.slot_count > 0`);
  return {
    inbox: ofLedger(`${asks} AND t.has_stream = 0`),
    stream: ofLedger(`${asks} AND t.has_stream = 1`),
    push: ofLedger('r.push_state IS NOT NULL'),
    fetch: rides('Happ'),
    unknown: rides('Shadowrocket'),
    none: rides('Karing'),
  };
}

async function cli(...words: string[]) {
  const env = app.database === null ? {} : { GATEPOST_DATABASE_URL: app.database.url };
  const at = ['--data', app.dataDir, '--config', settings];
  const { code, stdout, stderr } = await runHere([...words, ...at], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

interface Facts {
  by_inbox: number;
  by_stream: number;
  by_push: number;
  at_next_fetch: number;
  not_known: number;
  cannot: number;
}
const waysIn = (json: string): ReachWays => {
  const facts: Facts = JSON.parse(json);
  return {
    inbox: facts.by_inbox,
    stream: facts.by_stream,
    push: facts.by_push,
    fetch: facts.at_next_fetch,
    unknown: facts.not_known,
    none: facts.cannot,
  };
};

/** The table of the command line. */
function tableOf(ways: ReachWays): string {
  const rows = [
    `by inbox           ${ways.inbox}           when their apps ask for messages`,
    `by stream          ${ways.stream}           at once while their apps hold a stream, else when they ask`,
    `by push            ${ways.push}           a gateway wakes their apps`,
    `at the next fetch  ${ways.fetch}           within 6 hours`,
    `not known          ${ways.unknown}           with their next fetch too; whether their apps show it is not known`,
    `never              ${ways.none}           their apps neither ask for messages nor show any of a subscription`,
  ];
  return ['HOW                RECIPIENTS  WHEN', ...rows, ''].join('\n');
}

test.each([
  ['to all', EXPECTED, ['--all'], { specific_device_toggle: false, os: ['android'] }],
  ['by HWID', ONE_EACH, ['--hwid', HWIDS], { specific_device_toggle: true, hwid: HWIDS, os: null }],
])('a notification %s: the same before and after, everywhere', async (_, ways, target, where) => {
  const at = own.code;
  const recipients = WAYS.reduce((sum, way) => sum + ways[way], 0);
  const form = { body: 'hello', type_push: 'optional', expire_days: 7 };
  const body = { PushNotificationForm: form, ...where };
  const { count: before } = await browser.get('send.check', { at, kind: 'push', body });
  expect(before).toMatchObject({ recipients, ways });
  const dryRun = ['notify', ...target, '--body', 'hello', '--dry-run'];
  expect(waysIn(await cli(...dryRun, '--json'))).toEqual(ways);
  expect(await cli(...dryRun)).toContain(`\nRecipients: ${recipients}\n${tableOf(ways)}`);

  const { id, count: sent } = await browser.get('send.notification', { at, body });
  expect(sent).toEqual(before);
  await app.deliver();
  const { reach } = await browser.get('messages.show', { at, id });
  expect(reach).toEqual({ ...before, carried: 0 } as never);
  expect(waysIn(await cli('distribution', 'show', String(id), '--json'))).toEqual(ways);
  expect(await cli('distribution', 'show', String(id))).toContain(`\n\n${tableOf(ways)}\n`);
  expect(recount(id)).toEqual(ways);
});

test('a move to a host that is not allowed rides nowhere, before the send and after it', async () => {
  const at = own.code;
  const command = { action_type: 'sub-change', change_type: 'domain', change_value: 'a.example' };
  const body = { ...command, specific_device_toggle: true, hwid: HWIDS, os: null };
  const ways = { ...ONE_EACH, fetch: 0, unknown: 0, none: 3 };
  expect((await browser.get('send.check', { at, kind: 'command', body })).count).toMatchObject({
    ways,
  });
  const { id } = await browser.get('send.command', { at, body });
  await app.deliver();
  expect((await browser.get('messages.show', { at, id })).reach).toMatchObject({ ways });
  expect(waysIn(await cli('distribution', 'show', String(id), '--json'))).toEqual(ways);
});

test('the API adds inbox and stream, as ever', async () => {
  const body = {
    action_type: 'update-subscription',
    specific_device_toggle: true,
    hwid: 'inbox-0,stream-0',
  };
  const { headers } = await call(
    app,
    '/remote/command',
    own,
    {},
    { method: 'POST', body: JSON.stringify(body) },
  );
  expect(headers.get('x-reach')).toBe(
    'recipients=2; reachable=2; now=2; push=0; fetch=0; cannot=0',
  );
});
