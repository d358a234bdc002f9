/** The doctor at the gateways: their files, and the way to them. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { checkGateways } from '../../src/doctor/gateway.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { freshFolder } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { settingsFor } from '../support/gateway.ts';

const dataDir = freshFolder();
const { config } = loadConfig({ dataDir }, { GATEPOST_CONFIG: 'none' });
let servers: StrictServers;

beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(async () => {
  await servers.stop();
  rmSync(dataDir, { recursive: true });
});

/** The findings for all three, but for what is given. */
async function findings(
  change: Partial<ReturnType<typeof settingsFor>> = {},
  stopped: { gateway: string; problem: string }[] = [],
  hasSubscriptions = false,
) {
  const settings = { ...settingsFor(servers, dataDir), ...change };
  const own = { ...config, ...settings, outgoingCaFile: servers.caFile };
  const found = await checkGateways(own, { stopped, waiting: [], hasSubscriptions });
  return found.map(({ check, level, what }) => `${check} ${level}: ${what}`);
}

test('says nothing where none is set up, unless pushes wait for one', async () => {
  const none = { stopped: [], waiting: [], hasSubscriptions: true };
  expect(await checkGateways(config, none)).toEqual([]);
  const waiting = [{ gateway: 'webpush', count: 7 }];
  expect(await checkGateways(config, { ...none, waiting })).toMatchObject([
    { name: 'gateway_not_set_up', level: 'warning', subject: 'webpush' },
  ]);
  const { webpushSubject } = settingsFor(servers, dataDir);
  const found = await checkGateways({ ...config, webpushSubject }, { ...none, waiting });
  expect(found.map(({ name }) => name)).not.toContain('gateway_not_set_up');
});

test('finds all three well, and makes no key', async () => {
  const key = join(dataDir, 'vapid.key');
  expect(await findings()).toEqual([
    'gateways ok: FCM is configured, and answers',
    'gateways ok: APNs is configured, and answers',
    `gateways ok: Web Push is configured; 'gatepost serve' creates ${key}`,
  ]);
  expect(existsSync(key)).toBe(false);
});

test('a VAPID key that devices have subscribed with is missed', async () => {
  const [, , webpush] = await findings({}, [], true);
  const key = join(dataDir, 'vapid.key');
  expect(webpush).toBe(
    `gateways problem: devices have subscribed with a VAPID key, and ${key} is missing`,
  );
});

test('names a file that is not what it should be, and goes on to the others', async () => {
  const fcmServiceAccount = join(dataDir, 'missing.json');
  const [fcm, apns] = await findings({ fcmServiceAccount });
  expect(fcm).toStartWith('gateways problem: gateway.fcm.service_account: cannot read');
  expect(apns).toBe('gateways ok: APNs is configured, and answers');
});

test('names what of APNs is not set', async () => {
  const [, apns] = await findings({ apnsTopic: '' });
  expect(apns).toStartWith('gateways problem: gateway.apns.topic must be a bundle id');
});

test('warns of a gateway that cannot be reached, and of a certificate of another name', async () => {
  const closed = 'https://127.0.0.1:1';
  const [fcm, apns] = await findings({
    fcmEndpoint: closed,
    apnsEndpoint: servers.origin('otherName'),
  });
  expect(fcm).toStartWith('gateways warning: FCM cannot be reached: ');
  expect(apns).toStartWith('gateways warning: APNs cannot be reached: ');
});

test('tells of a gateway that a server has stopped, as its files alone would look well', async () => {
  const [first, second] = await findings({}, [{ gateway: 'fcm', problem: 'no such key' }]);
  expect(first).toBe('gateways problem: fcm is stopped: no such key');
  expect(second).toBe('gateways ok: FCM is configured, and answers');
});

test('the survey of a database finds what is stopped, and who subscribed', async () => {
  const folder = freshFolder();
  const store = await openSqliteStore({ dataDir: folder, create: true, commitBatchMax: 1 });
  const db = openBeside(folder);
  db.run(
    "INSERT INTO destination (kind, origin, stopped_at_ms, problem) VALUES ('apns', '', 1, 'x')",
  );
  db.run("INSERT INTO destination (kind, origin) VALUES ('fcm', '')");
  const before = await SQLITE.survey(folder, () => []);
  expect(before.stopped).toEqual([{ gateway: 'apns', problem: 'x' }]);
  expect(before.waiting).toEqual([]);
  db.run("UPDATE destination SET waiting_count = 3 WHERE kind = 'fcm'");
  const { waiting } = await SQLITE.survey(folder, () => []);
  expect(waiting).toEqual([{ gateway: 'fcm', count: 3 }]);
  expect(before.hasSubscriptions).toBe(false);
  db.run(
    `INSERT INTO device (id, hwid, os, os_version, device_name, app_version, user_agent,
       first_seen_at_ms, last_seen_at_ms) VALUES (1, 'phone', '', '', '', '', '', 0, 0)`,
  );
  db.run(
    `INSERT INTO device_token (device_id, token_hash, push, stands_alone)
     VALUES (1, zeroblob(32), '{"gateway":"webpush"}', 0)`,
  );
  expect((await SQLITE.survey(folder, () => [])).hasSubscriptions).toBe(true);
  db.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
