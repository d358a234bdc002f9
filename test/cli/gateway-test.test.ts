/** `gatepost gateway test`: a real message, and the answer in plain words. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { PushAddress } from '../../src/core/port/registration.ts';
import { openCore } from '../../src/parts/open-core.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { registration, tokenHash } from '../store/contract/message-fixture.ts';
import { type CommandLine, commandLine, failureLine } from '../support/command-line.ts';
import { openBeside } from '../support/database.ts';
import { settingsFor } from '../support/gateway.ts';

const DEVICE = 'ab'.repeat(32);

let servers: StrictServers;
let line: CommandLine;
let config: string;

beforeAll(async () => {
  servers = await startStrictServers();
  line = commandLine();
  await line.run('provider', 'add', '--name', 'n');
  const [subscription] = await servers.subscribe(1);
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  await register('tablet', { gateway: 'apns', token: DEVICE });
  if (subscription) await register('browser', { gateway: 'webpush', token: subscription });
  await register('quiet', null);
  config = join(line.dataDir, 'test.toml');
  writeConfig({});
});
afterAll(async () => {
  line.close();
  await servers.stop();
});
beforeEach(async () => {
  for (const name of ['fcm', 'apns', 'webpush'] as const) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
  writeConfig({});
});

async function register(hwid: string, push: PushAddress | null): Promise<void> {
  const loaded = loadConfig({ dataDir: line.dataDir }, { GATEPOST_CONFIG: 'none' });
  const { store } = await openCore(loaded.config, false);
  await store.registerDevice(registration(hwid, { push, tokenHash: tokenHash(hwid) }));
  await store.close();
}

/** The configuration of all three gateways at the strict servers, but for what is given. */
function writeConfig(change: Partial<ReturnType<typeof settingsFor>>): void {
  const settings = { ...settingsFor(servers, line.dataDir), ...change };
  const sections = {
    'gateway.fcm': {
      service_account: settings.fcmServiceAccount,
      endpoint: settings.fcmEndpoint,
    },
    'gateway.apns': {
      key_file: settings.apnsKeyFile,
      key_id: settings.apnsKeyId,
      team_id: settings.apnsTeamId,
      topic: settings.apnsTopic,
      endpoint: settings.apnsEndpoint,
    },
    'gateway.webpush': { subject: settings.webpushSubject },
    outgoing: { ca_file: servers.caFile, allow: ['127.0.0.1'] },
  };
  const lines = Object.entries(sections).flatMap(([name, rows]) => [
    `[${name}]`,
    ...Object.entries(rows).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
  ]);
  writeFileSync(config, lines.join('\n'));
}

const run = (...words: string[]) => line.run('gateway', 'test', ...words, '--config', config);

async function failureOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...words, '--json');
  expect([code, stdout]).toEqual([1, '']);
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
  expect(stderr).toBe(failureLine(error.code as 'test_failed', error.message));
  return `${error.code}: ${error.message}`;
}

test.each([
  ['fcm', 'phone', 'FCM'],
  ['apns', 'tablet', 'APNs'],
  ['webpush', 'browser', 'The push service'],
] as const)('%s: a message arrives', async (gateway, hwid, name) => {
  expect(await run(gateway, '--hwid', hwid)).toEqual({
    code: 0,
    stdout: `${name} accepted the message.\nIf the device shows nothing within a minute, check that it is online and that its user allows the app to show notifications.\n`,
    stderr: '',
  });
  const { deliveries, violations } = await servers.totals(gateway);
  expect([deliveries, violations]).toEqual([1, []]);
  const [visit] = (await servers.visits(gateway)).slice(-1);
  expect(JSON.stringify(visit?.content)).toContain('This is a test: pushes arrive.');
  // The command makes the VAPID key too, when it comes before the server.
  expect(existsSync(join(line.dataDir, 'vapid.key'))).toBe(true);
});

test('for machines', async () => {
  const { stdout } = await run('fcm', '--hwid', 'phone', '--json');
  expect(JSON.parse(stdout)).toEqual({ gateway: 'fcm', hwid: 'phone', verdict: 'accepted' });
});

test('a service account that Google does not know', async () => {
  writeConfig({ fcmServiceAccount: servers.fcm.wrongServiceAccountFile });
  expect(await failureOf('fcm', '--hwid', 'phone')).toBe(
    `test_failed: fcm does not work, and all its pushes wait: Google refuses an access token for the service account (400 invalid_grant: Invalid JWT Signature.): its key may be revoked, or the clock of this machine may be wrong. Fix it, then run 'systemctl reload gatepost'`,
  );
});

test('an app that was removed', async () => {
  await servers.behave('apns', { always: { kind: 'refuse', name: 'Unregistered' } });
  expect(await failureOf('apns', '--hwid', 'tablet')).toBe(
    'test_failed: the address of this device is dead and will be dropped with the next push: the app was removed from the device, or has a new token (410 Unregistered). The app gets another one when it registers again',
  );
});

test('the token of another app: both reasons are named', async () => {
  await servers.behave('apns', { always: { kind: 'refuse', name: 'BadDeviceToken' } });
  expect(await failureOf('apns', '--hwid', 'tablet')).toContain(
    'APNs does not know this token; or gateway.apns.sandbox does not match the build of the app (400 BadDeviceToken)',
  );
});

test('access tokens that FCM does not take: another one is tried, and no third', async () => {
  await servers.behave('fcm', { to: { 'phone-1': { kind: 'refuse', name: 'UNAUTHENTICATED' } } });
  expect(await failureOf('fcm', '--hwid', 'phone')).toContain('fcm does not work');
  // The token endpoint, and the message: each twice.
  expect((await servers.totals('fcm')).requests).toBe(4);
});

test('a gateway that is not set up', async () => {
  writeConfig({ webpushSubject: '' });
  expect(await failureOf('webpush', '--hwid', 'browser')).toBe(
    'failed: webpush is not set up: see [gateway.webpush] in the configuration',
  );
});

test('an unknown device, and devices without such an address', async () => {
  expect(await failureOf('fcm', '--hwid', 'unknown')).toStartWith('device_not_found: ');
  expect(await failureOf('fcm', '--hwid', 'tablet')).toBe(
    "failed: device 'tablet' has no address at fcm: the app registered at apns",
  );
  expect(await failureOf('fcm', '--hwid', 'quiet')).toBe(
    "failed: device 'quiet' has no address at fcm: the app registered none",
  );
  const db = openBeside(line.dataDir);
  db.run(`UPDATE device_token SET push_dropped_at_ms = 1795176000000,
    push_dropped_why = 'the app was removed (404 UNREGISTERED)'
    WHERE device_id = (SELECT id FROM device WHERE hwid = 'quiet')`);
  db.close();
  expect(await failureOf('fcm', '--hwid', 'quiet')).toMatch(
    /the app registered none; one was dropped at .+: the app was removed \(404/,
  );
});

test('another gateway is no gateway', async () => {
  const { code, stderr } = await run('sms', '--hwid', 'phone');
  expect(code).toBe(2);
  expect(stderr).toContain('fcm, apns, webpush');
});
