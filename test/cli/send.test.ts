/** `gatepost notify` and `gatepost command …`: the core's rules, with the operator as the actor. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../src/core/port/store.ts';
import { CODE, FACTS, knock } from '../store/contract/fixture.ts';
import { onLink, register } from '../store/contract/message-fixture.ts';
import { fcm, registerAt } from '../store/contract/outbox-fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink, openData } from '../support/links.ts';

let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await makeLink(line.dataDir, async ({ store }, { providerId, installId }) => {
    await store.updateProvider('Provide1', { plan: 'enterprise' }, ACT);
    await store.updateLink(providerId, installId, { installLimit: 9 }, ACT);
    await knock(store, 'phone');
    await knock(store, 'tablet', CODE, { ...FACTS, os: 'ios' });
    await knock(store, 'laptop', CODE, { ...FACTS, os: 'Windows' });
    await register(store, 'phone', onLink());
  });
});
afterEach(() => line.close());

async function withStore<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const { store } = await openData(line.dataDir);
  return use(store).finally(() => store.close());
}

const sends = () =>
  withStore((store) => store.listAllDistributions({ providerCode: null, countMax: 9 }));

const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await line.run(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
};

const file = (name: string, text: string) => {
  const path = join(line.dataDir, name);
  writeFileSync(path, text);
  return path;
};

test('a dry run says how many devices get it, and sends nothing', async () => {
  const { code, stdout } = await line.run('notify', '--all', '--body', 'x', '--dry-run');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `notification would be sent
Recipients: 2
HOW                RECIPIENTS  WHEN
by inbox           1           when their apps ask for messages
by stream          0           at once while their apps hold a stream, else when they ask
by push            0           a gateway wakes their apps
at the next fetch  0           within 12 hours
not known          0           with their next fetch too; whether their apps show it is not known
never              1           their apps neither ask for messages nor show any of a subscription
Nothing was sent.
`,
  });
  expect(await json('command', 'update-subscription', '--os', 'android', '--dry-run')).toEqual({
    id: null,
    provider_code: 'Provide1',
    due_at: null,
    recipients: 1,
    reachable: 1,
    at_least: false,
    now: 1,
    by_inbox: 1,
    by_stream: 0,
    by_push: 0,
    at_next_fetch: 0,
    not_known: 0,
    cannot: 0,
    within_hours: 12,
    within_is_guess: false,
  });
  expect(await sends()).toEqual([]);
});

test('a dry run says who gets it by push, and who with the next fetch, and when', async () => {
  await withStore((store) => registerAt(store, 'pushed', fcm('token')));
  await withStore((store) => knock(store, 'happ', CODE, { ...FACTS, userAgent: 'Happ/1.0' }));
  const settings = '[gateway.fcm]\nservice_account = "x"\n[gate]\nride = "notifications"\n';
  const riding = file('ride.toml', settings);
  const words = ['notify', '--all', '--body', 'x', '--dry-run', '--config', riding];
  expect((await line.run(...words)).stdout).toBe(`notification would be sent
Recipients: 4
HOW                RECIPIENTS  WHEN
by inbox           1           when their apps ask for messages
by stream          0           at once while their apps hold a stream, else when they ask
by push            1           a gateway wakes their apps
at the next fetch  1           within 12 hours, if the panel sets no other interval
not known          1           with their next fetch too; whether their apps show it is not known
never              0           their apps neither ask for messages nor show any of a subscription
Nothing was sent.
`);
  const command = ['command', 'update-subscription', '--all', '--dry-run', '--config', riding];
  expect(await json(...command)).toMatchObject({ at_next_fetch: 0, cannot: 2 });
});

test('a notification is the form of the API; options replace fields of a file', async () => {
  const locales = { RU: { title: 'Работы', body: 'Сегодня' } };
  const form = { title: 'old', body: 'Tonight, <b>23:00</b>', expire_days: 3, locales };
  const path = file('form.json', JSON.stringify({ PushNotificationForm: form }));
  expect(await json('notify', '--all', '--form', path, '--title', 'Maintenance')).toMatchObject({
    id: 1,
    recipients: 2,
    reachable: 1,
  });
  const [sent] = await sends();
  expect(sent).toMatchObject({ targetOs: 'ios,android', targetHwid: '' });
  expect(JSON.parse(sent?.payload ?? '')).toEqual({
    title: 'Maintenance',
    body: 'Tonight, <b>23:00</b>',
    locales,
    type_push: 'optional',
    expire_days: 3,
  });
});

test('the body comes from a file, without its last line feed', async () => {
  const path = file('body.txt', 'one\ntwo\n');
  await json('notify', '--hwid', 'phone, laptop', '--body-file', path, '--type', 'force');
  const [sent] = await sends();
  expect(sent).toMatchObject({ targetOs: null, targetHwid: 'phone,laptop' });
  expect(JSON.parse(sent?.payload ?? '')).toMatchObject({ body: 'one\ntwo', type_push: 'force' });
});

test('--at is in the output zone, and distribution cancel takes it back', async () => {
  const config = file('zone.toml', '[server]\noutput_zone = "+05:30"\n');
  const at = ['--at', '2026-12-01 10:00', '--config', config];
  const sent = await json('notify', '--all', '--body', 'x', ...at);
  expect(sent).toMatchObject({ id: 1, due_at: '2026-12-01T04:30:00Z' });
  expect(await line.run('distribution', 'cancel', '1')).toEqual({
    code: 0,
    stdout: 'distribution 1 cancelled\n',
    stderr: '',
  });
  expect(await sends()).toMatchObject([{ id: 1, status: 130 }]);
  expect((await line.run('distribution', 'cancel', '1')).stderr).toBe(
    'gatepost: distribution 1 has ended and cannot be cancelled\n',
  );
});

test('the rule of ten minutes holds for the operator; block stops it', async () => {
  // The clock of the command line stands at 12:00 UTC.
  await json('command', 'update-subscription', '--all', '--at', '2026-11-20T15:09');
  expect((await line.run('distribution', 'cancel', '1')).stderr).toBe(
    "gatepost: distribution 1 is not scheduled, or is due within ten minutes: 'distribution block' stops it\n",
  );
  expect(await line.run('distribution', 'block', '1')).toMatchObject({ code: 0 });
});

const COMMANDS: [string, string[], string | null, object][] = [
  ['update-subscription', [], null, {}],
  [
    'import-data',
    ['--value', 'https://example.com/1'],
    null,
    { 'input-data': btoa('https://example.com/1') },
  ],
  ['import-data', [], 'vless://x\n', { 'input-data': btoa('vless://x') }],
  ['set-settings', [], '{"ping-type":"tcp"}', { settings: { 'ping-type': 'tcp' } }],
  [
    'set-settings',
    ['--reset', 'change-user-agent, my.key'],
    '{"ping-type":"tcp"}',
    { settings: { 'ping-type': 'tcp', 'change-user-agent': '', 'my.key': '' } },
  ],
  ['set-settings', ['--reset', 'ping-type'], null, { settings: { 'ping-type': '' } }],
  [
    'sub-change',
    ['--value', 'new.example.com'],
    null,
    { change_type: 'domain', change_value: 'new.example.com' },
  ],
  [
    'sub-change',
    [],
    'https://example.com/2\n',
    { change_type: 'url', change_value: 'https://example.com/2' },
  ],
];

const STILL_SERVED =
  'serve the old domain too until every device has got this: an app that has not asks there still\n';

test.each(COMMANDS)('command %s %j, file %j', async (action, words, text, fields) => {
  const more = text === null ? [] : ['--file', file('content', text)];
  const given = ['command', action, '--hwid', 'phone', ...words, ...more];
  const { code, stderr } = await line.run(...given);
  const moves = 'change_type' in fields && fields.change_type === 'domain';
  expect({ code, stderr }).toEqual({ code: 0, stderr: moves ? STILL_SERVED : '' });
  const [sent] = await sends();
  expect(JSON.parse(sent?.payload ?? '')).toEqual({ action_type: action, ...fields });
  expect(sent).toMatchObject({ targetHwid: 'phone', notificationType: 20 });
});

test('command set-settings says which value of a newer key does not fit, and sends it', async () => {
  const settings = file('odd', '{"mux-quic":"maybe"}');
  const given = ['command', 'set-settings', '--hwid', 'phone', '--file', settings];
  const { code, stderr } = await line.run(...given);
  expect(code).toBe(0);
  expect(stderr).toContain('settings key mux-quic should be one of reject, allow, skip');
  const [sent] = await sends();
  expect(JSON.parse(sent?.payload ?? '').settings).toEqual({ 'mux-quic': 'maybe' });
});

const NEEDS_ONE = 'give one of --all, --os and --hwid, or a filter of subscriptions';
const REFUSED: [string, string[], string][] = [
  ['no target', ['notify', '--body', 'x'], NEEDS_ONE],
  ['two targets', ['notify', '--all', '--os', 'ios', '--body', 'x'], NEEDS_ONE],
  ['two bodies', ['notify', '--all', '--body', 'x', '--body-file', 'y'], 'give either --body'],
  ['no body', ['notify', '--all'], 'the message: body is required'],
  ['a foreign HWID', ['notify', '--hwid', 'stranger', '--body', 'x'], 'unknown or not linked'],
  ['a large body', ['notify', '--all', '--body', 'x'.repeat(4_000)], 'over 4096 bytes'],
  ['a past time', ['notify', '--all', '--body', 'x', '--at', '2026-11-20 14:59'], 'in the past'],
  [
    'no such minute',
    ['notify', '--all', '--body', 'x', '--at', '2026-02-30 10:00'],
    'not a minute',
  ],
  ['no content', ['command', 'sub-change', '--all'], 'give either --value or --file'],
  ['no settings', ['command', 'set-settings', '--all'], 'give --file, --reset or both'],
  ['a correction of nothing', ['notify', '--all', '--body', 'x', '--replaces', '7'], 'replaces'],
  ['a missing file', ['command', 'set-settings', '--all', '--file', 'nowhere'], 'cannot read'],
];

test.each(REFUSED)('%s is refused, and nothing is sent', async (_, words, part) => {
  const { code, stdout, stderr } = await line.run(...words);
  expect({ isRefused: code > 0, stdout }).toEqual({ isRefused: true, stdout: '' });
  expect(stderr).toContain(part);
  expect(await sends()).toEqual([]);
});

test('five minutes, plan and subscription hold for the operator too', async () => {
  await json('notify', '--all', '--body', 'x');
  const again = await line.run('notify', '--os', 'ios', '--body', 'x');
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(await line.run('notify', '--os', 'ios', '--body', 'x', '--dry-run')).toEqual(again);
  expect(again.stderr).toStartWith('gatepost: provider Provide1: it sent a notification to all');
  await line.run('provider', 'set', 'Provide1', '--plan', 'pro');
  const byPlan = await line.run('notify', '--hwid', 'phone', '--body', 'x', '--dry-run');
  expect(byPlan.stderr).toContain('its plan does not include notifications');
  await line.run('provider', 'suspend', 'Provide1');
  const bySubscription = await line.run('command', 'update-subscription', '--all');
  expect(bySubscription.stderr).toContain('its subscription has ended or is suspended');
  expect(await sends()).toHaveLength(1);
});

test('the audit log has the operator, and no word of the message', async () => {
  await json('notify', '--all', '--body', 'secret words');
  const { stdout } = await line.run('audit', 'list', '--json');
  expect(JSON.parse(stdout)[0]).toMatchObject({
    action: 'notification.send',
    who: 'operator',
    provider: 'Provide1',
  });
  expect(stdout).not.toContain('secret words');
});
