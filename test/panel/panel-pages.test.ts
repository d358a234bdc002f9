/**
 * Lists of users that change while they are read page by page. As at the real PasarGuard on
 * PostgreSQL, a user who changes has a new place, unless the question names an order.
 */

import { afterEach, describe, expect, test } from 'bun:test';
import { readPanelApi } from '../../src/panel/panel-api.ts';
import { READING } from '../support/reading.ts';

type User = Record<string, unknown>;
type Paging = 'marzban' | 'pasarguard' | 'remnawave';

const COUNT = 1203;
let server: ReturnType<typeof Bun.serve> | null = null;
afterEach(async () => {
  await server?.stop(true);
  server = null;
});

const madeAt = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString();
const user = (n: number): User => ({
  id: n + 1,
  uuid: `uuid-${n}`,
  shortUuid: `short-${n}`,
  username: `user_${n}`,
  createdAt: madeAt(n),
  created_at: madeAt(n),
});

/** Reads the names of all users; `meanwhile` changes the list after its page of a number. */
async function namesOf(kind: Paging, users: User[], meanwhile: (page: number) => void) {
  let pages = 0;
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      const { pathname, searchParams: asked } = new URL(url);
      if (pathname !== '/api/users') {
        const none = { username: 'root', is_sudo: true, admins: [], hwids: [] };
        return Response.json({ ...none, response: { devices: [], total: 0, externalSquads: [] } });
      }
      const at = Number(asked.get('offset') ?? asked.get('start'));
      const size = Number(asked.get('limit') ?? asked.get('size'));
      const order = asked.get('sort');
      if (![null, 'created_at,username'].includes(order)) return new Response('', { status: 400 });
      const madeAtOf = (one: User) => Date.parse(String(one['created_at']));
      const listed = order === null ? users : users.toSorted((a, b) => madeAtOf(a) - madeAtOf(b));
      const page = { users: listed.slice(at, at + size), total: users.length };
      const answer = Response.json(kind === 'remnawave' ? { response: page } : page);
      pages += 1;
      meanwhile(pages);
      return answer;
    },
  });
  const { rows } = await readPanelApi(kind, {
    url: `http://127.0.0.1:${server.port}`,
    token: 'secret-token',
    headers: {},
    callsPerSecondMax: 1e6,
    userAgent: 'test',
    ...READING,
    sleep: async () => {},
    onProgress: () => {},
  });
  return (rows.get('users') ?? []).map((row) => String(row['username']));
}

const all = () => Array.from({ length: COUNT }, (_, n) => user(n));
const sorted = (users: readonly User[]) => users.map((one) => String(one['username'])).toSorted();

describe.each(['marzban', 'pasarguard'] as const)('%s', (kind) => {
  test('users who get another place between two pages are read, and all others', async () => {
    const users = all();
    // Users of the first page and of the last one change their places.
    const swap = (page: number) => {
      const [first, last] = [users[page], users[COUNT - page]];
      if (first && last) Object.assign(users, { [page]: last, [COUNT - page]: first });
    };
    const names = await namesOf(kind, users, swap);
    expect(names.toSorted()).toEqual(sorted(users));
  });
});

describe.each(['marzban', 'pasarguard', 'remnawave'] as const)('%s', (kind) => {
  test('a user who is deleted between two pages hides no other', async () => {
    const users = all();
    const deleted = (page: number) => (page <= 2 ? users.splice(0, 3) : []);
    const names = await namesOf(kind, users, deleted);
    // The deleted ones of the first page were there when the reading began.
    expect(names).toHaveLength(new Set(names).size);
    expect(sorted(users).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('a user who is added between two pages is no fault', async () => {
    const users = all();
    const names = await namesOf(kind, users, (page) => {
      if (kind === 'remnawave') users.unshift(user(COUNT + page));
      else users.push(user(COUNT + page));
    });
    expect(names).toHaveLength(new Set(names).size);
    expect(sorted(all()).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('a list that loses users at each page is refused', async () => {
    const users = all();
    const failed = namesOf(kind, users, () => users.splice(0, 1));
    await expect(failed).rejects.toThrow(/its users changed while they were read/);
  });

  test('a panel that gives its first page for each is refused', async () => {
    const slice = (at: number, end: number) => all().slice(0, Math.min(end - at, COUNT - at));
    const first = { slice, length: COUNT, toSorted: () => first };
    const failed = namesOf(kind, first as unknown as User[], () => {});
    await expect(failed).rejects.toThrow(/its users changed while they were read/);
  });
});
