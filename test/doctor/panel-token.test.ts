/**
 * The doctor about the token for the API of a panel: whose users it shows, and whether it reads
 * the settings that a limit needs. The answers have the form of those of PasarGuard 5.2.1, Marzban
 * 0.8.4 and Hiddify 10.80.11.
 */

import { afterEach, expect, test } from 'bun:test';
import { loadConfig } from '../../src/config/load.ts';
import { checkApis } from '../../src/doctor/panel-api.ts';
import { notesIn } from '../../src/http/upstream/sign-in-notes.ts';

let server: ReturnType<typeof Bun.serve> | null = null;
afterEach(async () => {
  await server?.stop(true);
  server = null;
});

type Answers = Record<string, { status?: number; body: object }>;
const NO_USER = { status: 404, body: { detail: 'User not found' } };
const may = (list: object, one: object, more: object = {}) => ({
  users: { read_simple: list, read: one },
  ...more,
});
const OWN = { scope: 1 };
const ALL = { scope: 2 };
const denied = (right: string) => ({
  status: 403,
  body: { detail: `Permission denied: ${right}` },
});

/** An admin of PasarGuard, and what its API says to him. */
const pasarguard = (permissions: object, more: Answers = {}): Answers => ({
  '/api/admin': {
    body: { id: 1, username: 'seller', role: { name: 'r', is_owner: false, permissions } },
  },
  '/api/user/by-id/999999999': NO_USER,
  '/api/settings': { body: { hwid: { enabled: true, fallback_limit: 3 } } },
  '/api/admins': { body: { admins: [], total: 0 } },
  ...more,
});
const marzban = (isSudo: boolean): Answers => ({
  '/api/admin': { body: { username: 'seller', is_sudo: isSudo } },
  '/api/user/gatepost_asks_for_no_user': NO_USER,
});
const hiddify = (mode: string): Answers => ({
  '/api/v2/admin/me/': { body: { uuid: 'seller', mode, name: 'Anna' } },
  user: { status: 404, body: { detail: {}, message: 'User not found' } },
});

async function look(panel: string, answers: Answers, more: object = {}) {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url);
      const isOfUser = pathname.startsWith('/api/v2/admin/user/');
      const { body, status = 200 } = answers[isOfUser ? 'user' : pathname] ?? NO_USER;
      return Response.json(body, { status });
    },
  });
  const api = { panel, panel_url: `http://127.0.0.1:${server.port}`, panel_token_file: '/token' };
  const where = { host: 'sub.example.org', url: 'http://127.0.0.1:1', provider: 'MYSHOP01' };
  const upstream = { ...where, default_limit: 3, key: panel, ...api, ...more };
  const env = { GATEPOST_CONFIG: 'none', GATEPOST_GATE_UPSTREAM: JSON.stringify([upstream]) };
  const found = await checkApis(loadConfig({}, env).config, {
    nowMs: Date.now(),
    secretOf: () => 'token',
    notes: notesIn(null),
    signsIn: true,
  });
  return found.map(({ level, what, todo }) => ({ level, what, todo: todo ?? '' }));
}

const name = 'the API of the panel of sub.example.org';

test.each([
  ['PasarGuard, his own users', 'pasarguard', pasarguard(may(OWN, OWN))],
  ['PasarGuard, a list of his own users', 'pasarguard', pasarguard(may(OWN, ALL))],
  ['PasarGuard, each of his own users', 'pasarguard', pasarguard(may(ALL, OWN))],
  ['PasarGuard, no right to read', 'pasarguard', pasarguard({ users: null })],
  ['Marzban', 'marzban', marzban(false)],
  ['Hiddify', 'hiddify', hiddify('agent')],
])('a token that shows a part is a warning: %s', async (_, panel, answers) => {
  const [found] = await look(panel, answers);
  expect(found).toMatchObject({
    level: 'warning',
    what: `the token for ${name} shows only the users of the admin seller`,
  });
  expect(found?.todo).toContain('the links of all other users keep their limits');
});

test.each([
  ['PasarGuard, by scopes', 'pasarguard', pasarguard(may(ALL, ALL))],
  ['PasarGuard, without scopes', 'pasarguard', pasarguard({ users: { read: true } })],
  ['Marzban', 'marzban', marzban(true)],
  ['Hiddify', 'hiddify', hiddify('super_admin')],
])('a token that shows all users is well: %s', async (_, panel, answers) => {
  const found = await look(panel, answers);
  expect(found).toEqual([{ level: 'ok', what: `${name} answers`, todo: '' }]);
});

test.each(['settings', 'admins'])('limits need a token that reads the %s', async (right) => {
  const answers = pasarguard(may(ALL, ALL), { [`/api/${right}`]: denied(`${right}.read`) });
  const [found] = await look('pasarguard', answers, { limits: 'panel' });
  expect(found).toMatchObject({
    level: 'warning',
    what: `${name} refuses the token (API_403)`,
  });
  // Without limits of the panel none of them is asked for.
  expect((await look('pasarguard', answers))[0]?.level).toBe('ok');
});
