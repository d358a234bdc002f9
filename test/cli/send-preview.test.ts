/** `--preview`: what each app would show, and that nothing is sent. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink } from '../support/links.ts';

let line: CommandLine;
beforeEach(async () => {
  line = commandLine();
  await makeLink(line.dataDir, async ({ store }) => {
    await store.updateProvider('Provide1', { plan: 'enterprise' }, ACT);
  });
});
afterEach(() => line.close());

const file = (name: string, text: string, mode = 0o644) => {
  const path = join(line.dataDir, name);
  writeFileSync(path, text, { mode });
  return path;
};

/** A configuration in which all of it rides. */
const riding = () =>
  file(
    'ride.toml',
    `[gate]
ride = "on"
provider_id_file = "${file('id', 'SecretId\n', 0o600)}"
update_interval_hours = 6
[ride]
hosts = ["new.example.com"]
`,
  );

async function json(...words: string[]) {
  const { code, stdout, stderr } = await line.run(...words, '--preview', '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain('SecretId');
  const listed = await line.run('distribution', 'list', '--json');
  expect(JSON.parse(listed.stdout)).toEqual([]);
  return JSON.parse(stdout);
}

type Shown = { app: string | null; shown: { locale: string | null; headers: object }[] };
const of = (apps: Shown[], app: string | null) => apps.find((one) => one.app === app)?.shown;

test('a notification, in each language of the form', async () => {
  const locales = { ru: { body: 'Сегодня' } };
  const form = file(
    'form.json',
    JSON.stringify({ title: 'Soon', body: '<b>Tonight</b>', locales }),
  );
  const words = ['notify', '--form', form, '--link', 'https://example.com/a'];
  const told = await json(...words, '--config', riding());
  expect(told).toMatchObject({ provider_code: 'Provide1', rides: true, within_hours: 6 });
  expect(of(told.apps, 'Happ')).toMatchObject([
    { locale: null, text: 'Soon\nTonight', headers: { 'sub-info-color': 'blue' } },
    { locale: 'ru', text: 'Soon\nСегодня' },
  ]);
  expect(of(told.apps, null)).toMatchObject([
    { headers: { announce: `base64:${btoa('Soon\nTonight')}` } },
    { locale: 'ru' },
  ]);
  expect(of(told.apps, 'Karing')).toEqual([]);
});

test('as text: headers readable, and what would not ride', async () => {
  const { stdout } = await line.run('notify', '--body', 'one<br>two', '--preview');
  expect(stdout).toContain(
    '\nany other app: whether it shows this is not known\n    announce: one\n      two\n',
  );
  expect(stdout).toContain('\nNothing to show: Karing, ');
  expect(stdout).toEndWith('\nIt would not ride: rides are off for it here.\n');
  await line.run('provider', 'set', 'Provide1', '--ride', 'off');
  const off = await line.run('notify', '--body', 'x', '--preview', '--config', riding());
  expect(off.stdout).toEndWith('\nIt would not ride: rides are off for it here.\n');
});

test('settings by app, and the value that takes one back', async () => {
  const words = ['command', 'set-settings', '--reset', 'fragmentation-length'];
  const settings = file('s.json', '{"per-app-proxy-mode":"on","ping-type":"tcp"}');
  const { apps, rides } = await json(...words, '--file', settings, '--config', riding());
  expect(rides).toBe(true);
  expect(of(apps, 'Happ')).toEqual([
    {
      locale: null,
      headers: { 'per-app-proxy-mode': 'on', 'ping-type': 'tcp', 'fragmentation-length': '' },
      text: null,
    } as never,
  ]);
  expect(of(apps, 'INCY')).toMatchObject([
    { headers: { 'per-app-proxy-enable': '1', 'per-app-proxy-mode': 'proxy' } },
  ]);
  const back = await line.run(...words, '--preview');
  expect(back.stdout).toContain('INCY\n    no header: ');
  expect(back.stdout).toContain('Happ reads settings and moves only with a Provider ID');
});

test('a domain rides only if the file has it', async () => {
  const move = (domain: string) =>
    json('command', 'sub-change', '--value', domain, '--config', riding());
  const allowed = await move('new.example.com');
  expect(of(allowed.apps, 'Happ')).toMatchObject([
    { headers: { 'new-domain': 'new.example.com' } },
  ]);
  const other = await move('thief.example.com');
  expect(other.apps.every(({ shown }: Shown) => shown.length === 0)).toBe(true);
});

test('what the core refuses has no preview', async () => {
  const { code, stderr } = await line.run('notify', '--preview');
  expect({ code, stderr }).toMatchObject({ code: 1 });
  expect(stderr).toContain('body is required');
});

test('placeholders, also as three links get them', async () => {
  const set = await line.run('link', 'set', 'LinkCode0001', '--greeting', 'Anna');
  expect(set.code).toBe(0);
  const form = file(
    'form.json',
    JSON.stringify({
      body: '<b>{greeting}</b>, {days_left|soon}',
      locales: { ru: { body: '{limit}' } },
    }),
  );
  const told = await json('notify', '--form', form, '--fill');
  expect(told.examples).toMatchObject([
    { link_id: 1, payload: { body: '<b>Anna</b>, soon', locales: { ru: {} } } },
  ]);
  expect(told.examples[0].payload).not.toHaveProperty('fill');
  const { stdout } = await line.run('notify', '--form', form, '--fill', '--preview');
  expect(stdout).toContain('As link #1 gets it:\n    Anna, soon\n  in ru\n    ');
  expect(await json('notify', '--form', form)).not.toHaveProperty('examples');
  const wrong = await line.run('notify', '--body', '{note}', '--fill', '--preview');
  expect(wrong.code).not.toBe(0);
  expect(wrong.stderr).toContain('body has an unknown placeholder {note}');
});
