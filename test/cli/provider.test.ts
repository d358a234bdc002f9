/** `gatepost provider …`, beside a server that is running in a process of its own. */

import { beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outside, usualOf } from '../../src/core/field.ts';
import type { OwnMy } from '../../src/core/port/my.ts';
import { MY_TERMS } from '../../src/core/terms.ts';
import { call } from '../support/app.ts';
import { runHere } from '../support/command-line.ts';
import { type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const dataDir = join(temporaryFolder(), 'data');
let server: ServerProcess;
beforeAll(async () => {
  server = await startServe({ dataDir });
});

const provider = (...words: string[]) => runHere(['provider', ...words, '--data', dataDir]);

/** The JSON that a command prints; the command must succeed and say nothing else. */
async function json(...words: string[]) {
  const { code, stdout, stderr } = await provider(...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function add(...words: string[]): Promise<{ code: string; authKey: string }> {
  const printed = await json('add', '--name', 'Name', ...words);
  expect(Object.keys(printed)).toEqual(['provider_code', 'auth_key']);
  return { code: printed.provider_code, authKey: printed.auth_key };
}

/** A file with a key in it that is its owner's alone. */
function secretFile(key: string): string {
  const path = join(temporaryFolder(), 'key');
  writeFileSync(path, `${key}\n`, { mode: 0o600 });
  return path;
}

/** The running server's answer to these credentials. */
async function says(code: string, authKey: string): Promise<string> {
  return (await call(server, '/api/list-install', { code, authKey })).json.msg;
}

describe('add', () => {
  test('prints credentials that work on the next request', async () => {
    const { code, authKey } = await add();
    expect(code).toMatch(/^[A-Za-z0-9]{8}$/);
    expect(authKey).toMatch(/^[-_A-Za-z0-9]{32}$/);
    expect(await says(code, authKey)).toBe('Ok');
  });

  test('for people: two lines, a note, and what the plan can do', async () => {
    const { code, stdout, stderr } = await provider('add', '--name', 'For people');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [codeLine, keyLine, ...rest] = stdout.split('\n');
    expect(codeLine).toMatch(/^provider_code {2}\w{8}$/);
    expect(keyLine).toMatch(/^auth_key {7}[-\w]{32}$/);
    expect(rest).toEqual([
      'The key is shown only once: only its SHA-256 is stored.',
      'Plan enterprise: links, domains, commands and notifications.',
      '',
    ]);
    for (const plan of ['basic', 'pro']) {
      const { stdout: said } = await provider('add', '--name', 'n', '--plan', plan);
      expect(said).toContain(`\nPlan ${plan}: links`);
    }
  });

  test('takes a code and a key that the provider already has', async () => {
    const key = 'Chosen-key_Chosen-key_Chosen-key';
    const chosen = await add('--code', 'Chosen01', '--key-file', secretFile(key));
    expect(chosen).toEqual({ code: 'Chosen01', authKey: key });
    expect(await says('Chosen01', key)).toBe('Ok');
    const again = await provider('add', '--name', 'x', '--code', 'Chosen01');
    const sentence = "gatepost: provider code 'Chosen01' is taken\n";
    expect(again).toEqual({ code: 1, stdout: '', stderr: sentence });
    expect(await says('Chosen01', key)).toBe('Ok');
  });

  test('a key on the command line is seen by others: it says so', async () => {
    const key = 'Chosen-key_Chosen-key_Chosen-kex';
    const { code, stderr } = await provider('add', '--name', 'x', '--key', key);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^gatepost: a key after --key is visible in the process list .*: --key-file is safer\n$/,
    );
  });

  test('a file with a key that others may read is refused, and so is another file', async () => {
    const open = secretFile('Chosen-key_Chosen-key_Chosen-key');
    chmodSync(open, 0o644);
    for (const words of [
      ['add', '--name', 'x'],
      ['rotate-key', 'Nobody00'],
    ]) {
      const { code, stderr } = await provider(...words, '--key-file', open);
      expect(code).toBe(1);
      const mode = 'has mode 0644, open to all users';
      expect(stderr).toBe(
        `gatepost: the file ${open} holds secrets and ${mode}: run 'chmod 600 ${open}'\n`,
      );
    }
    for (const text of ['no key', 'x'.repeat(100_000)]) {
      const { code, stderr } = await provider('add', '--name', 'x', '--key-file', secretFile(text));
      expect(code).toBe(1);
      expect(stderr).toMatch(/ has no valid key| is no secret/);
    }
    const both = ['--key', 'k'.repeat(32), '--key-file', open];
    expect((await provider('add', '--name', 'x', ...both)).code).toBe(2);
  });

  test('makes the data directory when it comes before the first start', async () => {
    const fresh = join(temporaryFolder(), 'data');
    const { code } = await runHere(['provider', 'add', '--name', 'x', '--data', fresh]);
    expect(code).toBe(0);
    const listed = await runHere(['provider', 'list', '--json', '--data', fresh]);
    expect(JSON.parse(listed.stdout)).toHaveLength(1);
  });

  test('--max-links and --expires hold on the next request', async () => {
    const limited = await add('--max-links', '1');
    const addLink = { install_limit: 1 };
    expect((await call(server, '/api/add-install', limited, addLink)).json.msg).toBe('Ok');
    expect((await call(server, '/api/add-install', limited, addLink)).json.msg).toBe(
      'Install code limit reached',
    );
    const past = await add('--expires', '2020-02-29');
    expect(await says(past.code, past.authKey)).toBe(
      'This feature requires an active subscription',
    );
    expect(await json('show', past.code)).toMatchObject({ expires: '2020-02-29', active: false });
  });

  for (const [words, mistake] of [
    [['--plan', 'entreprise'], 'a plan is basic, pro or enterprise'],
    [['--expires', '2026-02-30'], "'2026-02-30' is not a date: YYYY-MM-DD, or never"],
    [['--code', 'short'], 'a provider code is 8 letters and digits'],
    [['--key', 'short'], 'a key is 32 letters, digits, - and _'],
    [['--max-links', '-1'], "'-1' is not a number of links, or default"],
    [['--name', 'two\nlines'], 'a name is one line of 1 to 255 characters'],
    [['--colour', 'red'], "unknown option '--colour'"],
    [['surplus'], 'too many arguments for'],
  ] as const) {
    test(`${words.join(' ')} is a mistake of usage`, async () => {
      const before = await json('list');
      const { code, stdout, stderr } = await provider('add', '--name', 'n', ...words);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toStartWith(`gatepost: ${mistake}`);
      expect(await json('list')).toEqual(before);
    });
  }

  test('without a name it says so', async () => {
    const { code, stderr } = await provider('add');
    expect(code).toBe(2);
    expect(stderr).toContain("required option '--name <name>' not specified");
  });
});

test('list and show tell everything but keys', async () => {
  const { code, authKey } = await add('--plan', 'pro', '--expires', 'never', '--max-links', '9');
  const shown = {
    provider_code: code,
    name: 'Name',
    plan: 'pro',
    active: true,
    suspended: false,
    expires: 'never',
    links: 0,
    max_links: 9,
    inactive_days: null,
    when_full: null,
    cool_down_hours: null,
    enforce: null,
    without_hwid: null,
    same_phone: null,
    same_phone_hours: null,
    copied_hwid: null,
    when_new: null,
    ride: 'default',
    ride_desktop: 'no',
    rc2_body: 'default',
    short_codes: 'no',
    subscription_figures: 'off',
    quiet_from: null,
    quiet_to: null,
    time_zone: null,
    buttons: 'missing',
    support_url: null,
    web_page_url: null,
    discovery: 'off',
    ...outside(MY_TERMS, usualOf<OwnMy>(MY_TERMS)),
    page: 'off',
    page_traffic: 'off',
    page_cut_off: 'off',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    old_key_until: null,
  };
  expect(await json('show', code)).toEqual(shown);
  expect(await json('list')).toContainEqual(shown);

  const [heading = '', ...rows] = (await provider('list')).stdout.split('\n');
  expect(heading).toMatch(/^CODE +NAME +PLAN +STATE +EXPIRES +LINKS$/);
  const row = rows.find((line) => line.startsWith(code)) ?? '';
  expect(row.indexOf('pro')).toBe(heading.indexOf('PLAN'));
  // Numbers are aligned on the right.
  expect(row.length).toBe(heading.length);
  const sheet = (await provider('show', code)).stdout;
  expect(sheet).toMatch(/^max_links +9$/m);
  expect(sheet).not.toContain(authKey);
});

test('set takes the terms of add-install for a bot', async () => {
  const { code } = await add();
  const before = await json('show', code);
  await json('set', code, '--rc2-body', 'on', '--short-codes', 'yes');
  const set = { rc2_body: 'on', short_codes: 'yes' };
  expect(await json('show', code)).toEqual({ ...before, ...set });
  await json('set', code, '--rc2-body', 'default', '--short-codes', 'no');
  expect(await json('show', code)).toEqual(before);
});

test('set takes what rides and the buttons, and takes them back', async () => {
  const { code } = await add('--plan', 'basic');
  const before = await json('show', code);
  const urls = ['--support-url', 'tg://resolve?domain=a', '--web-page-url', 'https://example.com/'];
  const ride = ['--ride', 'off', '--ride-desktop', 'yes', '--buttons', 'always'];
  await json('set', code, ...urls, ...ride);
  expect(await json('show', code)).toEqual({
    ...before,
    ride: 'off',
    ride_desktop: 'yes',
    buttons: 'always',
    support_url: 'tg://resolve?domain=a',
    web_page_url: 'https://example.com/',
  });
  expect((await provider('show', code)).stdout).toMatch(/^ride +off$/m);
  const none = ['--support-url', 'none', '--web-page-url', 'none'];
  const back = ['--ride', 'default', '--ride-desktop', 'no', '--buttons', 'missing'];
  await json('set', code, ...none, ...back);
  expect(await json('show', code)).toEqual(before);
  const { stdout } = await runHere(['audit', 'list', '--json', '--data', dataDir]);
  expect(JSON.parse(stdout)[0].change).toMatchObject({ ride: ['off', null] });
});

test('set changes what is given and nothing else', async () => {
  const { code } = await add('--plan', 'basic');
  const before = await json('show', code);
  expect(await json('set', code, '--plan', 'enterprise')).toEqual({
    provider_code: code,
    done: 'changed',
  });
  expect(await json('show', code)).toEqual({ ...before, plan: 'enterprise' });
  await json('set', code, '--name', 'Other', '--max-links', '3', '--expires', '2099-12-31');
  const after = { name: 'Other', plan: 'enterprise', max_links: 3, expires: '2099-12-31' };
  expect(await json('show', code)).toEqual({ ...before, ...after });
  await json('set', code, '--max-links', 'default', '--expires', 'never');
  expect(await json('show', code)).toMatchObject({ max_links: null, expires: 'never' });

  const { stdout } = await provider('set', code, '--plan', 'pro');
  expect(stdout).toBe(
    `${code} changed\nPlan pro: links, domains and commands; no notifications (they need enterprise).\n`,
  );

  const nothing = await provider('set', code);
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain('nothing to change: give --name, --plan or another option');
});

test('a policy for all links, and the word that takes it away', async () => {
  const policy = ['--inactive-days', '30', '--when-full', 'replace-oldest'];
  const { code } = await add(...policy);
  const before = await json('show', code);
  const own = {
    inactive_days: 30,
    when_full: 'replace-oldest',
    cool_down_hours: null,
    enforce: null,
    without_hwid: null,
    same_phone: null,
    same_phone_hours: null,
    copied_hwid: null,
    when_new: null,
  };
  expect(before).toMatchObject(own);
  const sheet = (await provider('show', code)).stdout;
  expect(sheet).toMatch(/^inactive_days +30$/m);
  expect(sheet).toMatch(/^when_full +replace-oldest$/m);
  expect(sheet).toMatch(/^cool_down_hours +24 \(default\)$/m);
  await json('set', code, '--cool-down-hours', '48');
  expect(await json('show', code)).toEqual({ ...before, cool_down_hours: 48 });
  const words = ['--inactive-days', 'default', '--when-full', 'default', '--cool-down-hours'];
  await json('set', code, ...words, 'default');
  const none = { inactive_days: null, when_full: null, cool_down_hours: null };
  expect(await json('show', code)).toEqual({ ...before, ...none });
});

test('suspend and resume are seen by the running server at once', async () => {
  const { code, authKey } = await add();
  expect((await provider('suspend', code)).stdout).toBe(`${code} suspended\n`);
  expect(await says(code, authKey)).toBe('This feature requires an active subscription');
  expect(await json('show', code)).toMatchObject({ active: false, suspended: true });
  expect((await provider('resume', code)).stdout).toBe(`${code} resumed\n`);
  expect(await says(code, authKey)).toBe('Ok');
});

describe('rotate-key', () => {
  test('ends the old key at once', async () => {
    const { code, authKey } = await add();
    const rotated = await json('rotate-key', code);
    expect(Object.keys(rotated)).toEqual(['provider_code', 'auth_key']);
    expect(rotated.auth_key).not.toBe(authKey);
    expect(await says(code, authKey)).toBe('Auth error');
    expect(await says(code, rotated.auth_key)).toBe('Ok');
  });

  test('--keep-old 24h lets both work, until a second rotation', async () => {
    const { code, authKey } = await add();
    const second = await json('rotate-key', code, '--keep-old', '24h');
    expect(await says(code, authKey)).toBe('Ok');
    expect(await says(code, second.auth_key)).toBe('Ok');
    const { old_key_until: until } = await json('show', code);
    const hoursLeft = (Date.parse(until) - Date.now()) / 3_600_000;
    expect(hoursLeft).toBeGreaterThan(23);
    expect(hoursLeft).toBeLessThanOrEqual(24);
    const third = await json('rotate-key', code, '--keep-old', '1h');
    expect(await says(code, authKey)).toBe('Auth error');
    expect(await says(code, second.auth_key)).toBe('Ok');
    expect(await says(code, third.auth_key)).toBe('Ok');
  });

  test('takes a chosen key, and says what a duration is', async () => {
    const { code } = await add();
    const key = 'Another_chosen_key_Another_chose';
    expect((await json('rotate-key', code, '--key-file', secretFile(key))).auth_key).toBe(key);
    expect(await says(code, key)).toBe('Ok');
    const wrong = await provider('rotate-key', code, '--keep-old', '24');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain("'24' is not a duration: a number with s, m, h or d");
    expect(await says(code, key)).toBe('Ok');
  });
});

test('remove takes the provider and its links away', async () => {
  const { code, authKey } = await add();
  await call(server, '/api/add-install', { code, authKey }, { install_limit: 1 });
  const held = `Remove ${code} (Name) with 1 link, 0 HWIDs, 0 domains, 0 distributions`;
  const refused = await provider('remove', code);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toStartWith(
    `gatepost: ${held}: this cannot be undone: give --yes if there is no terminal\n`,
  );
  expect(await says(code, authKey)).toBe('Ok');
  expect(await json('remove', code, '--yes')).toEqual({ provider_code: code, done: 'removed' });
  expect(await says(code, authKey)).toBe('Auth error');
  expect((await provider('remove', code, '--yes')).code).toBe(1);
});

for (const words of [
  ['show'],
  ['suspend'],
  ['resume'],
  ['rotate-key'],
  ['remove'],
  ['set', '--plan', 'pro'],
]) {
  test(`${words[0]} of an unknown code is one sentence`, async () => {
    const [verb = '', ...rest] = words;
    const sentence = "gatepost: there is no provider 'Nobody00': see 'gatepost provider list'\n";
    const result = await provider(verb, 'Nobody00', ...rest);
    expect(result).toEqual({ code: 1, stdout: '', stderr: sentence });
  });
}
