/**
 * Addresses and keys of those outside are planted, every call out goes wrong in every way, and all
 * that the appliance says of it is searched for them: log, metrics, lists, audit log, answers.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credentials } from '../../src/core/provider.ts';
import type { Misdeed } from '../servers/misdeed.ts';
import { reachEnv } from '../servers/reach-env.ts';
import { type StrictServers, startStrictServers } from '../servers/strict-servers.ts';
import { call } from '../support/app.ts';
import { openBeside } from '../support/database.ts';
import { byBinding, notify, register } from '../support/messaging.ts';
import { formsOf, rawFormsOf } from '../support/planted.ts';
import {
  addProviderByCommand,
  run,
  type ServerProcess,
  startServe,
  temporaryFolder,
} from '../support/process.ts';
import { addWebhook } from '../support/reach.ts';
import { addLink, bind, expectOk } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses(120_000);

let servers: StrictServers;
beforeAll(async () => {
  servers = await startStrictServers();
});
afterAll(() => servers.stop());

const PATH_SECRET = 'PLANTED-path-of-a-webhook';
const QUERY_SECRET = 'PLANTED-query-of-a-webhook';
const TOKENS = {
  fcm: `PLANTED-fcm-token:${'x'.repeat(120)}`,
  apns: `${'5ec2e7'.repeat(10)}abcd`,
};
const NAMES = ['fcm', 'apns', 'webpush', 'webhook', 'telegram'] as const;
const MISDEEDS: Misdeed[] = [
  { kind: 'refuse', name: '500' },
  { kind: 'refuse', name: '429', retryAfter: '1' },
  { kind: 'reset-connection' },
  { kind: 'reset-stream' },
  { kind: 'goaway' },
  { kind: 'answer', status: 302, headers: { location: `https://example.com/${PATH_SECRET}` } },
  // A stranger's answer that says back what it was sent.
  { kind: 'answer', status: 418, body: `${TOKENS.fcm} ${PATH_SECRET}` },
  { kind: 'huge', bytes: 200_000 },
];

/** A device at each gateway, and webhooks of each kind. */
async function setUp(server: ServerProcess, by: Credentials): Promise<Record<string, string>> {
  await bind(server, by);
  const [subscription] = await servers.subscribe(1);
  const push = { ...TOKENS, webpush: subscription };
  for (const [gateway, token] of Object.entries(push)) {
    await register(server, { ...byBinding(gateway, by), push: { gateway, token } });
  }
  const url = `${servers.origin('webhook')}/hook/${PATH_SECRET}?token=${QUERY_SECRET}`;
  const { secret } = await addWebhook(server, by, { url });
  const refused = `${servers.origin('otherName')}/hook/${PATH_SECRET}`;
  const other = await addWebhook(server, by, { url: refused });
  const { chat, botToken } = servers.telegram;
  await addWebhook(server, by, { chat, bot_token: botToken });
  await servers.setHook(PATH_SECRET, [secret]);
  const account = JSON.parse(readFileSync(servers.fcm.serviceAccountFile, 'utf8'));
  const inside = (pem: string) => pem.split('\n')[2] ?? '';
  return {
    PATH_SECRET,
    QUERY_SECRET,
    ...TOKENS,
    secret,
    otherSecret: other.secret,
    botToken,
    endpoint: new URL(subscription?.endpoint ?? '').pathname,
    auth: subscription?.keys.auth ?? '',
    fcmKey: inside(account.private_key),
    apnsKey: inside(readFileSync(servers.apns.keyFile, 'utf8')),
  };
}

/** Has each misdeed done to each kind of call. */
async function goWrong(server: ServerProcess, by: Credentials): Promise<void> {
  for (const name of NAMES) await servers.behave(name, { next: MISDEEDS });
  const db = openBeside(server.dataDir);
  const resting = db.query('SELECT 1 FROM destination WHERE waiting_count = 0');
  let count = 1;
  await until('every misdeed', async () => {
    // Some misdeeds end a message: then another one is sent.
    if (count++ % 10 === 0 && resting.get() !== null) {
      await addLink(server, by, null);
      await notify(server, by, 'Hello', { hwid: 'fcm,apns,webpush' });
    }
    db.run('UPDATE outbox SET next_at_ms = 0');
    // What asks for an access token is stopped by some of them.
    db.run('UPDATE destination SET retry_at_ms = 0, stopped_at_ms = NULL');
    await Bun.sleep(50);
    const totals = await Promise.all(NAMES.map((name) => servers.totals(name)));
    return totals.every(({ requests }) => requests > MISDEEDS.length);
  });
  // Dead ones are dropped, which is told too.
  for (const [name, status] of Object.entries({ fcm: '404', apns: '410', webpush: '410' })) {
    await servers.behave(name as 'fcm', { always: { kind: 'refuse', name: status } });
  }
  await servers.behave('webhook', { always: { kind: 'refuse', name: '410' } });
  await addLink(server, by, null);
  await notify(server, by, 'Again', { hwid: 'fcm,apns,webpush' });
  await until('the end of all', () => {
    db.run('UPDATE outbox SET next_at_ms = 0');
    db.run('UPDATE destination SET retry_at_ms = 0, stopped_at_ms = NULL');
    return db.query('SELECT 1 FROM distribution WHERE status < 100').get() === null;
  });
  db.close();
}

/** Everything that the appliance says of what goes out. */
async function everythingSaid(server: ServerProcess, by: Credentials): Promise<string> {
  const said = [await (await fetch(`${server.monitorUrl}/metrics`)).text()];
  const list = await expectOk(call(server, '/api/webhook-list', by));
  said.push(list.text);
  for (const { id } of list.json.data as { id: number }[]) {
    for (const path of ['/api/webhook-deliveries', '/api/webhook-test']) {
      const reply = await call(server, path, by, { id });
      said.push(reply.text, JSON.stringify([...reply.headers]));
    }
  }
  for (const words of [
    ['device', 'show', 'fcm'],
    ['device', 'show', 'apns', '--json'],
    ['device', 'show', 'webpush'],
    ['distribution', 'list'],
    ['distribution', 'show', '1'],
    ['distribution', 'show', '2', '--json'],
    ['gateway', 'list'],
    ['gateway', 'list', '--json'],
    ['webhook', 'list', '--provider', by.code],
    ['webhook', 'list', '--provider', by.code, '--json'],
    ['webhook', 'deliveries', '1', '--provider', by.code],
    ['audit', 'list'],
    ['doctor'],
    ['config'],
  ]) {
    const env = reachEnv(servers);
    const { stdout, stderr } = await run([...words, '--data', server.dataDir], { env });
    said.push(stdout, stderr);
  }
  return said.join('\n');
}

test('addresses and keys of others are in nothing that is said', async () => {
  const dataDir = join(temporaryFolder(), 'data');
  const by = await addProviderByCommand(dataDir, '--plan', 'enterprise');
  const env = {
    ...reachEnv(servers),
    GATEPOST_LOG_LEVEL: 'debug',
    GATEPOST_LOG_REQUESTS: 'true',
    GATEPOST_WEBHOOK_TELEGRAM_ENDPOINT: servers.origin('telegram'),
  };
  const server = await startServe({ dataDir, env });
  const secrets = await setUp(server, by);
  expect(Object.values(secrets).filter((secret) => secret.length < 16)).toEqual([]);
  await goWrong(server, by);
  const said = await everythingSaid(server, by);
  await server.stop();
  const all = said + server.stdout() + server.stderr();
  expect(all).toContain('dropped');
  const shown = Object.entries(secrets)
    // A fingerprint of a secret may be shown, no more than eight digits of it.
    .flatMap(([name, secret]) =>
      [...formsOf(secret), ...rawFormsOf(secret)].map((form) => [name, form]),
    )
    .filter(([, form]) => all.includes(form ?? ''));
  expect(shown.map(([name]) => name)).toEqual([]);
});
