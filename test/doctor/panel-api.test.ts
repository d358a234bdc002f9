/** The doctor about links that imports disabled: how many, and which way they come back. */

import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { PANELS, signs } from '../../src/core/panel/kind.ts';
import { checkApis, checkDisabled } from '../../src/doctor/panel-api.ts';
import { notesIn } from '../../src/http/upstream/sign-in-notes.ts';
import { freshFolder } from '../support/app.ts';
import { API_TOKEN, jwtUntil, startPanelApi } from '../support/panel-api.ts';

const UPSTREAM = {
  host: 'sub.example.org',
  url: 'http://127.0.0.1:1',
  provider: 'MYSHOP01',
  default_limit: 3,
};

const configWith = (more: object, env: Record<string, string> = {}) =>
  loadConfig(
    {},
    {
      GATEPOST_CONFIG: 'none',
      ...env,
      GATEPOST_GATE_UPSTREAM: JSON.stringify([{ ...UPSTREAM, ...more }]),
    },
  ).config;

const GATE = {
  GATEPOST_GATE_PANEL: 'hiddify',
  GATEPOST_GATE_PANEL_URL: 'http://127.0.0.1:1',
  GATEPOST_GATE_PANEL_TOKEN_FILE: '/token',
};
const ASKED = { panel: 'marzban', key: 'marzban', panel_token_file: '/token' };
const BY_COMMAND = 'gatepost link enable --disabled-by-import --provider';

describe('links that an import disabled', () => {
  test.each([
    ['by the API of the upstream', configWith(ASKED), 'MYSHOP01', 'once the API of the panel'],
    ['by the API of the gate', configWith({}, GATE), 'MYSHOP01', 'once the API of the panel'],
    ['by hand, or panel of the upstream', configWith({}), 'MYSHOP01', 'panel_token_file of gate'],
    // A token without keys whose users the API knows asks nothing.
    [
      'by hand, if the API does not know the keys',
      configWith({ panel: 'marzban', panel_token_file: '/token' }),
      ...(['MYSHOP01', 'enables them with --all'] as const),
    ],
    ['by hand, or gate.panel', configWith({}), 'OTHER001', 'or set gate.panel'],
  ])('come back %s', (_, config, code, todo) => {
    const [found] = checkDisabled([{ code, count: 2 }], config);
    const what = `an import disabled 2 links of provider ${code}, and their devices are refused`;
    expect([found?.level, found?.what]).toEqual(['warning', what]);
    expect(found?.todo).toContain(todo);
    expect(found?.todo).toContain(`${BY_COMMAND} ${code}`);
    expect(checkDisabled([], config)).toEqual([]);
  });
});

/** What the checks ask with; `signsIn`: a person asks. */
const asking = (secretOf: (file: string) => string | null, signsIn = true) => ({
  nowMs: Date.now(),
  secretOf,
  notes: notesIn(null),
  signsIn,
});

test('an API that does not answer: what is missing until then', async () => {
  const env = { ...GATE, GATEPOST_GATE_READ: 'panel' };
  const effectsOf = async (more: object) => {
    const found = await checkApis(
      configWith({ ...ASKED, ...more }, env),
      asking(() => API_TOKEN),
    );
    return found.map(({ todo }) => todo?.split('; ')[1]);
  };
  const atGate = 'new devices are admitted without the panel until then, and no end and no';
  expect(await effectsOf({ read: 'panel' })).toEqual([
    'no end and no traffic is read from it until then',
    `${atGate} traffic is read from it until then`,
  ]);
  expect((await effectsOf({ limits: 'panel' }))[0]).toBe('links keep their limits until then');
  expect((await effectsOf({}))[0]).toContain('comes back until then');
});

test('each API that the settings name is asked, that of the gate too', async () => {
  const api = startPanelApi('hiddify', []);
  const env = { ...GATE, GATEPOST_GATE_PANEL_URL: api.url };
  const config = configWith({ panel: 'hiddify', panel_url: api.url, panel_token_file: '/t' }, env);
  const look = async (secretOf: (file: string) => string | null) =>
    (await checkApis(config, asking(secretOf))).map(({ level, what }) => `${level}: ${what}`);
  expect(await look(() => API_TOKEN)).toEqual([
    'ok: the API of the panel of sub.example.org answers',
    'ok: the API of gate.panel answers',
  ]);
  expect(await look((file) => (file === '/t' ? null : 'another-token'))).toEqual([
    'warning: the API of gate.panel refuses the token (API_403)',
  ]);
  await api.stop();
});

test.each(PANELS)('%s: a wrong token is called refused', async (panel) => {
  const api = startPanelApi(panel, []);
  const key = signs(panel) ? panel : 'plain';
  const config = configWith({ panel, key, panel_url: api.url, panel_token_file: '/t' });
  const [found] = await checkApis(
    config,
    asking(() => 'another-token'),
  );
  const [, code] = /refuses the token \(API_(\d+)\)$/.exec(found?.what ?? '') ?? [];
  expect(code).toBe(panel === 'hiddify' ? '403' : '401');
  await api.stop();
});

describe('the account of a panel', () => {
  const SIGNED = { panel: 'marzban', key: 'marzban' };
  const account = () => {
    const file = join(freshFolder(), 'account');
    writeFileSync(file, 'reader\nSecret1\n', { mode: 0o600 });
    return file;
  };

  test('signs in where a person asks; a refusal is a problem, and is not tried again', async () => {
    const api = startPanelApi('marzban', []);
    const token = jwtUntil(Date.now() + 3_600_000);
    api.tokens.add(token);
    api.signIn = () => Response.json({ access_token: token });
    const more = { ...SIGNED, panel_url: api.url, panel_account_file: account() };
    const look = (ask: ReturnType<typeof asking>) => checkApis(configWith(more), ask);
    const byPerson = asking(() => null);
    // Its token ends within a day, as each of Marzban does, and is renewed.
    expect(await look(byPerson)).toMatchObject([
      { level: 'ok', what: 'the API of the panel of sub.example.org answers' },
    ]);
    expect(await look(asking(() => null, false))).toEqual([]);
    expect(api.signIns).toHaveLength(1);
    api.signIn = () => Response.json({}, { status: 401 });
    const problem = { level: 'problem', name: 'panel_sign_in_refused' };
    expect(await look(byPerson)).toMatchObject([problem]);
    expect(await look(byPerson)).toMatchObject([problem]);
    expect(await look({ ...byPerson, signsIn: false })).toMatchObject([problem]);
    expect(JSON.stringify(await look(byPerson))).not.toContain('Secret1');
    expect(api.signIns).toHaveLength(2);
    await api.stop();
  });

  test.each([
    [23, 'marzban', /^put a new one into \/t and reload Gatepost, or set panel_account_file$/],
    [23, 'remnawave', /^put a new one into \/t and reload Gatepost$/],
    [25, 'marzban', null],
    [-1, 'marzban', null],
  ] as const)('a token that ends in %d hours at %s', async (hours, panel, todo) => {
    const api = startPanelApi(panel, []);
    const nowMs = Date.UTC(2026, 10, 20);
    const token = jwtUntil(nowMs + hours * 3_600_000);
    api.tokens.add(token);
    const key = panel === 'marzban' ? SIGNED : { panel };
    const config = configWith({ ...key, panel_url: api.url, panel_token_file: '/t' });
    const found = await checkApis(config, { ...asking(() => token), nowMs });
    const ending = found.filter(({ name }) => name === 'panel_token_ends');
    expect(ending.map((one) => one.todo)).toEqual(
      todo === null ? [] : [expect.stringMatching(todo)],
    );
    if (todo !== null) expect(ending[0]?.what).toContain('ends at 2026-11-20 23:00 UTC');
    await api.stop();
  });
});
