/**
 * Messages through gateways, from the executable to strict servers: what travels, and that every
 * device is accounted for whatever the gateways do.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reachEnv } from '../servers/reach-env.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { call } from '../support/app.ts';
import { byBinding, notify, order, register } from '../support/messaging.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { pushToken } from '../support/push-devices.ts';
import { ended, expectNoViolations, metricsOf, openReaching, statusOf } from '../support/reach.ts';
import { expectOk, HASH } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());
beforeEach(async () => {
  for (const name of ['fcm', 'apns', 'webpush'] as const) {
    await servers.behave(name, {});
    await servers.forget(name);
  }
});

const open = (env: Record<string, string> = {}) => openReaching(servers, env);

async function registerThree(server: ServerProcess, by: { code: string; authKey: string }) {
  const [subscription] = await servers.subscribe(1);
  const at = (hwid: string, os: string, locale: string, gateway: string, token: unknown) =>
    register(server, { ...byBinding(hwid, by), os, locale, push: { gateway, token } });
  await at('phone', 'android', 'ru-RU', 'fcm', pushToken('fcm', 1));
  await at('tablet', 'ios', 'en', 'apns', pushToken('apns', 2));
  await at('browser', 'web', 'de', 'webpush', subscription);
}

const FORM = {
  title: 'Hello',
  body: '<b>News</b> &amp; more',
  link_for_open: 'https://example.com/a',
  locales: { RU: { title: 'Привет', body: '<i>Новости</i>' } },
  type_push: 'force',
  expire_days: 1,
};

test('a notification goes through each gateway in the language of the device', async () => {
  const { server, by } = await open();
  await registerThree(server, by);
  const id = await notify(server, by, FORM.body, { hwid: 'phone,tablet,browser' }, FORM);
  expect(await ended(server, by, id)).toBe(100);

  const [phone] = await servers.visits('fcm').then((all) => all.filter(({ to }) => to !== null));
  expect(phone).toMatchObject({ to: pushToken('fcm', 1), protocol: 'h2', delivered: true });
  expect(phone?.content).toMatchObject({
    notification: { title: 'Привет', body: 'Новости' },
    data: { id: String(id) },
    android: { collapse_key: String(id), priority: 'high' },
  });
  const [tablet] = await servers.visits('apns');
  expect(tablet).toMatchObject({ to: pushToken('apns', 2), delivered: true });
  expect(tablet?.content).toMatchObject({
    aps: { alert: { title: 'Hello', body: 'News & more' }, sound: 'default' },
  });
  expect(tablet?.headers).toMatchObject({ 'apns-priority': '10', 'apns-collapse-id': String(id) });
  const [browser] = await servers.visits('webpush');
  expect(browser).toMatchObject({ delivered: true });
  expect(browser?.content).toMatchObject({ id, title: 'Hello', body: 'News & more' });
  await expectNoViolations(servers);
  expect(server.troubles()).toEqual([]);
});

test('of a command nothing travels but that there is one', async () => {
  const { server, by } = await open();
  await registerThree(server, by);
  const id = await order(server, by, {
    action_type: 'import-data',
    import_data: 'vless-very-secret',
    specific_device_toggle: true,
    hwid: 'phone,tablet,browser',
  });
  expect(await ended(server, by, id)).toBe(100);
  for (const name of ['fcm', 'apns', 'webpush'] as const) {
    const sent = (await servers.visits(name)).filter(({ delivered }) => delivered);
    expect(sent).toHaveLength(1);
    const text = JSON.stringify(sent[0]?.content);
    expect(text).toContain(String(id));
    expect(text).not.toContain('vless');
    expect(text).not.toContain(Buffer.from('vless-very-secret').toString('base64').slice(0, 12));
    expect(text).not.toContain('import');
  }
  await expectNoViolations(servers);
});

test('a dead token is dropped and said; who has another way is accounted for as before', async () => {
  const { server, by } = await open();
  await registerThree(server, by);
  await servers.behave('fcm', { to: { [pushToken('fcm', 1)]: { kind: 'refuse', name: '404' } } });
  const first = await notify(server, by, 'One', { hwid: 'phone,tablet' });
  expect(await ended(server, by, first)).toBe(110);
  const shown = await run(['device', 'show', 'phone', '--json', '--data', server.dataDir]);
  const [registration] = JSON.parse(shown.stdout).registrations;
  expect(registration.push).toBeNull();
  expect(registration.push_dropped_why).toContain('404');
  // It has no address any more: its inbox is all that there is, as before.
  const second = await notify(server, by, 'Two', { hwid: 'phone' });
  expect(await ended(server, by, second)).toBe(100);
  expect((await servers.totals('fcm')).answers['404']).toBe(1);
  await expectNoViolations(servers);
});

test('wrong FCM credentials: one line, all of it is kept, and goes out once they are mended', async () => {
  const account = join(temporaryFolder(), 'service-account.json');
  copyFileSync(servers.fcm.wrongServiceAccountFile, account);
  const { server, by } = await open({ GATEPOST_GATEWAY_FCM_SERVICE_ACCOUNT: account });
  await registerThree(server, by);
  const ids = [];
  for (const body of ['One', 'Two', 'Three']) {
    ids.push(await notify(server, by, body, { hwid: 'phone,tablet' }));
  }
  const stopped = () => server.troubles().filter((line) => line.includes('gateway_stopped'));
  await until('the line in the log', () => stopped().length > 0);
  // The others are not held up by it.
  await until('APNs to have all of them', async () => {
    return (await servers.totals('apns')).deliveries === 3;
  });
  expect(server.troubles()).toEqual(stopped());
  expect(stopped()).toHaveLength(1);
  for (const id of ids) expect(await statusOf(server, by, id)).toBe(40);
  const metrics = await metricsOf(server);
  const waiting = [...metrics].filter(([name]) => /outbox.*waiting.*fcm|fcm.*waiting/.test(name));
  expect(waiting.map(([, value]) => value)).toEqual([3]);
  const list = await run(['gateway', 'list', '--data', server.dataDir], {
    env: { ...reachEnv(servers), GATEPOST_GATEWAY_FCM_SERVICE_ACCOUNT: account },
  });
  expect(list.stdout).toMatch(/fcm.*stopped/);
  expect((await servers.totals('fcm')).deliveries).toBe(0);

  copyFileSync(servers.fcm.serviceAccountFile, account);
  process.kill(server.pid, 'SIGHUP');
  for (const id of ids) expect(await ended(server, by, id)).toBe(100);
  expect((await servers.totals('fcm')).deliveries).toBe(3);
  expect(stopped()).toHaveLength(1);
  await expectNoViolations(servers);
});

test('another key of Apple is used from SIGHUP on: the next push is accepted', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const file = join(temporaryFolder(), 'gatepost.toml');
  const write = ({ keyFile, keyId }: { keyFile: string; keyId: string }) =>
    writeFileSync(file, `[gateway.apns]\nkey_file = "${keyFile}"\nkey_id = "${keyId}"\n`);
  write(servers.apns);
  const by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const env = reachEnv(servers);
  for (const name of ['KEY_FILE', 'KEY_ID']) delete env[`GATEPOST_GATEWAY_APNS_${name}`];
  const server = await startServe({ dataDir, env, args: ['--config', file] });
  await expectOk(call(server, '/api/add-domain', by, { domain_hash: HASH }));
  await registerThree(server, by);
  const first = await notify(server, by, 'One', { hwid: 'tablet' });
  expect(await ended(server, by, first)).toBe(100);
  write(servers.apns.other);
  process.kill(server.pid, 'SIGHUP');
  await until('the reload', () => server.stderr().includes('config_reloaded'));
  const second = await notify(server, by, 'Two', { hwid: 'tablet' });
  expect(await ended(server, by, second)).toBe(100);
  expect((await servers.totals('apns')).answers).toEqual({ '200': 2 });
  expect(server.troubles()).toEqual([]);
  await expectNoViolations(servers);
});

test('a gateway that never answers holds up neither the others nor later messages', async () => {
  const { server, by } = await open();
  await registerThree(server, by);
  await servers.behave('fcm', { always: { kind: 'blackhole' } });
  const startMs = performance.now();
  const stuck = await notify(server, by, 'All', { hwid: 'phone,tablet,browser' });
  for (let n = 0; n < 8; n++) {
    const id = await notify(server, by, `${n}`, { hwid: 'tablet,browser' });
    expect(await ended(server, by, id)).toBe(100);
  }
  // Less than one call to FCM is waited for.
  expect(performance.now() - startMs).toBeLessThan(10_000);
  expect(await statusOf(server, by, stuck)).toBe(40);
  for (const name of ['apns', 'webpush'] as const) {
    expect((await servers.totals(name)).deliveries).toBe(9);
  }
  await servers.behave('fcm', {});
  await servers.resetConnections('fcm');
  expect(await ended(server, by, stuck)).toBe(100);
  expect((await servers.totals('fcm')).deliveries).toBe(1);
  await expectNoViolations(servers);
});
