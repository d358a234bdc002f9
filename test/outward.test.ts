/** The half that reaches out, in a whole program: a push through each gateway, and SIGHUP. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type App, startApp } from '../src/app.ts';
import { type LoadedConfig, loadConfig } from '../src/config/load.ts';
import type { PushAddress } from '../src/core/port/registration.ts';
import { addProvider } from '../src/core/provider.ts';
import { type StrictServers, startStrictServers } from './servers/strict-servers.ts';
import { freshFolder } from './support/app.ts';
import { settingsFor } from './support/gateway.ts';
import { HASH } from './support/shop.ts';
import { until } from './support/until.ts';

let servers: StrictServers;
let folder: string;
let app: App;
let credentials: string;

beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());

beforeEach(async () => {
  folder = freshFolder();
  for (const name of ['fcm', 'apns', 'webpush'] as const) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
});
afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A configuration with all three gateways at the strict servers, but for what is given. */
function configured(change: Partial<ReturnType<typeof settingsFor>> = {}): LoadedConfig {
  const dataDir = join(folder, 'data');
  const loaded = loadConfig({ dataDir }, { GATEPOST_CONFIG: 'none' });
  const ours = { port: 0, monitorPort: 0, logLevel: 'error', outgoingCaFile: servers.caFile };
  const settings = { ...settingsFor(servers, dataDir), ...change };
  const allow = loadConfig(
    { dataDir },
    { GATEPOST_CONFIG: 'none', GATEPOST_OUTGOING_ALLOW: '127.0.0.1' },
  );
  const { outgoingAllow } = allow.config;
  const config = { ...loaded.config, ...ours, ...settings, outgoingAllow };
  return { ...loaded, config: config as LoadedConfig['config'] };
}

async function start(loaded: LoadedConfig): Promise<void> {
  app = await startApp(loaded, new AbortController().signal);
  const draft = {
    name: 'n',
    plan: 'enterprise',
    activeUntilMs: null,
    installCountMax: null,
  } as const;
  const made = await addProvider(app.core, draft, Date.now());
  if ('says' in made) throw new Error(made.says);
  credentials = `provider_code=${made.code}&auth_key=${made.authKey}`;
  await call(`/api/add-domain?${credentials}&domain_name=example.com&domain_hash=${HASH}`);
}

async function call(path: string, body?: unknown): Promise<Record<string, unknown>> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(app.url + path, body === undefined ? {} : init);
  const answer = (await response.json()) as Record<string, unknown>;
  expect(answer).toMatchObject({ rc: 1 });
  return answer;
}

async function register(hwid: string, push: PushAddress): Promise<void> {
  const { install_code } = await call(`/api/add-install?${credentials}&install_limit=5`);
  const who = { hwid, os: 'android', locale: 'en', install_code, domain_hash: HASH };
  await call('/device/register', { ...who, push });
}

async function notify(): Promise<void> {
  const PushNotificationForm = { body: 'Hello', title: 'T', type_push: 'force', expire_days: 7 };
  await call(`/remote/notification?${credentials}`, { PushNotificationForm, os: 'android' });
}

async function statusOf(): Promise<unknown> {
  const { data } = await call(`/remote/list?${credentials}`);
  return (data as { status: number }[])[0]?.status;
}

async function metric(series: string): Promise<number> {
  const text = await (await fetch(`${app.monitorUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return Number(line?.split(' ').at(-1));
}

test('a push through each gateway: the distribution is sent when the last has accepted', async () => {
  await start(configured());
  const [subscription] = await servers.subscribe(1, 'webpush');
  if (subscription === undefined) throw new Error('no subscription');
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  await register('tablet', { gateway: 'apns', token: 'ab'.repeat(32) });
  await register('browser', { gateway: 'webpush', token: subscription });
  await notify();
  await until('it is sent', async () => (await statusOf()) === 100);
  for (const name of ['fcm', 'apns', 'webpush'] as const) {
    const { deliveries, violations } = await servers.totals(name);
    expect([name, deliveries, violations]).toEqual([name, 1, []]);
    expect(await metric(`gatepost_outbox_attempts_total{kind="${name}",outcome="accepted"}`)).toBe(
      1,
    );
  }
});

test('wrong credentials: it waits, nothing is lost, and SIGHUP with the right ones sends it', async () => {
  const account = join(folder, 'account.json');
  copyFileSync(servers.fcm.wrongServiceAccountFile, account);
  const loaded = configured({ fcmServiceAccount: account });
  await start(loaded);
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  await register('other', { gateway: 'fcm', token: 'phone-2' });
  await notify();
  await until(
    'it is stopped',
    async () => (await metric('gatepost_outbox_stopped{kind="fcm"}')) === 1,
  );
  expect(await statusOf()).toBe(40);
  expect(await metric('gatepost_outbox_waiting{kind="fcm"}')).toBe(2);
  // Resumed without a repair: it is tried again, and stopped again.
  app.reload(loaded);
  await until('it is stopped again', async () => {
    const lines = 'gatepost_log_events_total{level="error",event="gateway_stopped"}';
    return (await metric(lines)) === 2;
  });
  copyFileSync(servers.fcm.serviceAccountFile, account);
  app.reload(loaded);
  await until('it is sent', async () => (await statusOf()) === 100);
  expect(await metric('gatepost_outbox_stopped{kind="fcm"}')).toBe(0);
  expect(await servers.totals('fcm')).toMatchObject({ deliveries: 2, violations: [] });
});

test('a reload with a file that is wrong changes nothing', async () => {
  const loaded = configured();
  await start(loaded);
  const wrong = configured({ fcmServiceAccount: join(folder, 'missing.json'), apnsTopic: 'x.y' });
  expect(() => app.reload(wrong)).toThrow('gateway.fcm.service_account');
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  await notify();
  await until('it is sent', async () => (await statusOf()) === 100);
});

test('a start with a file that is wrong says so in one sentence', async () => {
  const wrong = configured({ fcmServiceAccount: join(folder, 'missing.json') });
  const starting = startApp(wrong, new AbortController().signal);
  expect(starting).rejects.toThrow(/^gateway\.fcm\.service_account: cannot read [^\n]+$/);
  await starting.catch(() => undefined);
  await start(configured());
});

test('a reload takes up a file of authorities', async () => {
  const whole = configured();
  await start({ ...whole, config: { ...whole.config, outgoingCaFile: '' } });
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  await notify();
  await until('it is not trusted', async () => {
    return (await metric('gatepost_outbox_attempts_total{kind="fcm",outcome="retry"}')) > 0;
  });
  app.reload(whole);
  await until('it is sent', async () => (await statusOf()) === 100);
});

test('a gateway that hangs does not hold up a stop, and the next start sends what waits', async () => {
  await start(configured());
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  await servers.behave('fcm', { always: { kind: 'blackhole' } });
  await notify();
  await until('it hangs', async () => (await servers.totals('fcm')).requests > 0);
  const beganMs = performance.now();
  await app.close();
  expect(performance.now() - beganMs).toBeLessThan(8_000);
  await servers.behave('fcm', {});
  app = await startApp(configured(), new AbortController().signal);
  await until('it is sent', async () => (await statusOf()) === 100);
  expect(await metric('gatepost_outbox_attempts_total{kind="fcm",outcome="retry"}')).toBe(0);
});

test('with gateways set up and nothing to do, nothing is written', async () => {
  await start(configured());
  await register('phone', { gateway: 'fcm', token: 'phone-1' });
  const saved = () => metric('gatepost_commits_total{outcome="saved"}');
  // Once a second the event loop is looked at, and the bells ring.
  const seconds = () => metric('gatepost_event_loop_lag_seconds_count');
  // The time is stored in the first second, then once a minute.
  await until('the time is stored', async () => (await seconds()) >= 2);
  // Figures of the calls above ride on a commit of their own.
  await app.core.store.saveFigures();
  const before = await saved();
  const from = await seconds();
  await until('three seconds are over', async () => (await seconds()) >= from + 3);
  expect(await saved()).toBe(before);
});
