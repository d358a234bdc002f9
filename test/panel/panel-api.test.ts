/** Panels read by their API give the users that their databases have. */

import { afterEach, expect, test } from 'bun:test';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import { PANELS, type PanelKind } from '../../src/core/panel/kind.ts';
import { readPanelApi } from '../../src/panel/panel-api.ts';
import type { Row } from '../support/panel-tables.ts';
import { makeUser, tablesOf } from '../support/panel-world.ts';
import { READING } from '../support/reading.ts';

const TOKEN = 'secret-token';
let server: ReturnType<typeof Bun.serve> | null = null;
afterEach(async () => {
  await server?.stop(true);
  server = null;
});

type Answer = unknown;
const camel = (row: Row) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );

const USERS = Array.from({ length: 1203 }, (_, n) => makeUser(n));
const READ = Object.fromEntries(
  PANELS.map((kind) => [
    kind,
    tablesOf[kind](USERS).map(({ name, rows }) => [name, rows] as const),
  ]),
) as unknown as Record<PanelKind, [string, readonly Row[]][]>;
const TABLES = (kind: PanelKind) => new Map(READ[kind]);

function paged(rows: readonly unknown[], search: URLSearchParams, name: string) {
  const at = Number(search.get('start') ?? search.get('offset'));
  const size = Number(search.get('size') ?? search.get('limit'));
  return { [name]: rows.slice(at, at + size), total: rows.length };
}

/** Admins who see all users, as each panel describes them. */
const WHOLE: Partial<Record<PanelKind, object>> = {
  marzban: { username: 'admin', is_sudo: true },
  pasarguard: { username: 'keeper', role: { permissions: { users: { read: { scope: 2 } } } } },
  hiddify: { uuid: '0229b9dd-e6d7-46d9-9c6e-2daf24487acc', mode: 'super_admin' },
};

/** Answers as the routes of each panel do. */
function answerOf(kind: PanelKind, { pathname, searchParams }: URL): Answer {
  const tables = TABLES(kind);
  const rows = (name: string) => tables.get(name) ?? [];
  const users = () => paged(rows('users'), searchParams, 'users');
  if (kind === 'remnawave') {
    const settings = JSON.parse(String(rows('subscription_settings')[0]?.['hwid_settings']));
    const list = (name: string, as: string) => paged(rows(name).map(camel), searchParams, as);
    const routes: Record<string, () => unknown> = {
      '/api/users': () => list('users', 'users'),
      '/api/hwid/devices': () => list('hwid_user_devices', 'devices'),
      '/api/subscription-settings': () => ({ hwidSettings: settings }),
      '/api/external-squads': () => ({ externalSquads: [], total: 0 }),
    };
    const response = routes[pathname]?.();
    return response && { response };
  }
  if (kind === '3x-ui') {
    const obj = rows('clients').map(camel);
    return pathname === '/panel/api/clients/list' && { success: true, obj };
  }
  if (pathname === '/api/admin') return WHOLE[kind];
  if (kind === 'marzban') return pathname === '/api/users' && users();
  if (kind === 'hiddify') {
    if (pathname === '/api/v2/admin/me/') return WHOLE[kind];
    return pathname === '/api/v2/admin/user/' && rows('user');
  }
  const parsed = (row: Row | undefined) => ({ ...row, hwid: JSON.parse(String(row?.['hwid'])) });
  if (pathname === '/api/settings') return parsed(rows('settings')[0]);
  if (pathname === '/api/admins') {
    return {
      admins: rows('admins').map((row) => ({ ...row, role: parsed(rows('admin_roles')[0]) })),
    };
  }
  if (pathname === '/api/users') {
    const of = (row: Row) => ({ ...row, admin: { id: row['admin_id'], username: 'seller' } });
    return paged(rows('users').map(of), searchParams, 'users');
  }
  const id = /^\/api\/user\/(\d+)\/hwids$/.exec(pathname)?.[1];
  return id && { hwids: rows('user_hwids').filter((row) => String(row['user_id']) === id) };
}

const HEADERS: Partial<Record<PanelKind, string>> = { hiddify: 'hiddify-api-key' };

function serve(answer: (url: URL, request: Request) => Response): string {
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => answer(new URL(request.url), request),
  });
  return `http://127.0.0.1:${server.port}`;
}

function read(kind: PanelKind, url: string) {
  return readPanelApi(kind, {
    url,
    token: TOKEN,
    headers: {},
    callsPerSecondMax: 1e6,
    userAgent: 'test',
    ...READING,
    sleep: async () => {},
    onProgress: () => {},
  });
}

test.each([...PANELS])('%s', async (kind) => {
  const methods = new Set<string>();
  const url = serve((asked, request) => {
    methods.add(request.method);
    const header = HEADERS[kind] ?? (kind === 'pasarguard' ? 'x-api-key' : 'authorization');
    if (!request.headers.get(header)?.endsWith(TOKEN)) return new Response('', { status: 401 });
    const answer = answerOf(kind, asked);
    return answer ? Response.json(answer) : new Response('', { status: 404 });
  });
  const schema = PANEL_TRAITS[kind].database;
  const { rows, view } = await read(kind, url);
  expect(view).toBe('');
  const users = [...schema.readUsers(rows)];
  const tables = TABLES(kind);
  // The API of 3x-ui does not tell the hashes of devices.
  if (kind === '3x-ui') tables.delete('client_hwids');
  expect(users).toEqual([...schema.readUsers(tables)]);
  expect(users).toHaveLength(USERS.length);
  expect([...methods]).toEqual(['GET']);
});

const own = { users: { read: { scope: 1 } } };
// The list of PasarGuard asks for the right to read simply.
const ownList = { users: { read: { scope: 2 }, read_simple: { scope: 1 } } };
const unscoped = { users: { read: true } };

test.each([
  ['marzban', { username: 'reseller', is_sudo: false }, 'reseller'],
  ['marzban', {}, 'unknown'],
  ['pasarguard', { username: 'reseller', role: { permissions: own } }, 'reseller'],
  ['pasarguard', { username: 'reseller', role: { permissions: ownList } }, 'reseller'],
  ['pasarguard', { username: 'root', role: { permissions: unscoped } }, ''],
  ['pasarguard', { username: 'root', role: { is_owner: true } }, ''],
  ['pasarguard', { username: 'root', is_sudo: true }, ''],
  ['hiddify', { uuid: 'u-1', mode: 'agent' }, 'u-1'],
] as const)('%s: a token belongs to an admin: case %#', async (kind, admin, view) => {
  const one = [{ id: 1, username: 'anna' }];
  const users = kind === 'hiddify' ? one : { users: one, total: 1, admins: [], hwids: [] };
  const url = serve(({ pathname }) =>
    Response.json(/\/admin(?:\/me\/)?$/.test(pathname) ? admin : users),
  );
  expect((await read(kind, url)).view).toBe(view);
});

test.each(['..', '../admin', 'a?b', '', -1])('pasarguard: %p is the id of no path', async (id) => {
  const asked: string[] = [];
  const url = serve(({ pathname }) => {
    asked.push(pathname);
    const users = pathname === '/api/users' ? [{ id, username: 'anna' }] : [];
    return Response.json({ users, total: users.length, admins: [], hwids: [] });
  });
  const failed = read('pasarguard', url).catch((error: Error) => error.message);
  expect(await failed).toContain('its answer to /api/users is not that of');
  expect(
    asked.filter(
      (path) => !['/api/admin', '/api/settings', '/api/admins', '/api/users'].includes(path),
    ),
  ).toEqual([]);
});

test.each([
  ['a refused token', () => new Response('', { status: 401 }), 'it refuses the token (401)'],
  [
    'a token without a right',
    () => new Response('', { status: 403 }),
    'it refuses /api/admin to this token (403)',
  ],
  ['another page', () => new Response('<html>'), 'its answer to /api/admin is not that of'],
  ['another place', () => Response.redirect('http://127.0.0.1:1/'), 'it answers HTTP 302 at /api'],
  ['no total', () => Response.json({ users: [] }), 'its answer to users is not that of'],
  [
    'a list that shrinks',
    ({ searchParams }: URL) =>
      Response.json({ users: searchParams.get('offset') === '0' ? [{}] : [], total: 2 }),
    'its users changed while they were read',
  ],
])('refuses %s', async (_, answer, message) => {
  const failed = read('marzban', serve(answer));
  await expect(failed).rejects.toThrow(message);
  await failed.catch((error: Error) => expect(error.message).not.toContain(TOKEN));
});

test('3x-ui that says no is refused', async () => {
  const url = serve(() => Response.json({ success: false, msg: 'no' }));
  await expect(read('3x-ui', url)).rejects.toThrow('is not that of the panel');
});

test('an answer of 502 is asked for again, a few times', async () => {
  let asked = 0;
  const url = serve((at) => {
    asked += 1;
    if (asked < 4) return new Response('', { status: 502 });
    return Response.json(paged([{ username: 'anna' }], at.searchParams, 'users'));
  });
  expect((await read('marzban', url)).rows.get('users')).toEqual([{ username: 'anna' }]);
  const down = serve(() => new Response('', { status: 502 }));
  await expect(read('marzban', down)).rejects.toThrow('it answers HTTP 502');
});

test('pasarguard: a user who is deleted while devices are read has none', async () => {
  const device = { hwid: 'a-phone', created_at: '2026-01-01T00:00:00', last_used_at: null };
  const url = serve(({ pathname, searchParams }) => {
    if (pathname === '/api/user/1/hwids') return Response.json({}, { status: 404 });
    if (pathname === '/api/user/2/hwids') return Response.json({ hwids: [device], count: 1 });
    const users = [1, 2].map((id) => ({ id, username: `user_${id}` }));
    return Response.json({ ...paged(users, searchParams, 'users'), admins: [] });
  });
  const { rows } = await read('pasarguard', url);
  expect(rows.get('users')).toHaveLength(2);
  expect(rows.get('user_hwids')).toMatchObject([{ user_id: '2', hwid: 'a-phone' }]);
});
