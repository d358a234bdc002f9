/**
 * Lists of a panel that are not all of its users: half of them, none, a fault on the second page,
 * those of another admin. By an import no link changes without the operator's word.
 */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProviderByCommand, temporaryFolder } from '../../support/process.ts';
import { withCustomers } from '../appliance.ts';
import { type Rewrite, startFaultRelay } from '../fault-relay.ts';
import type { RealKind } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';
import { attempt, bring, linksIn, type Way } from '../ways.ts';

interface List {
  path: RegExp;
  /** The field with the users; null: the answer is the list. */
  field: string | null;
  isPaged: boolean;
}

const PAGED: List = { path: /\/api\/users$/, field: 'users', isPaged: true };
const LISTS: Readonly<Record<RealKind, List>> = {
  '3x-ui': { path: /\/clients\/list$/, field: 'obj', isPaged: false },
  marzban: PAGED,
  pasarguard: PAGED,
  hiddify: { path: /\/admin\/user\/$/, field: null, isPaged: false },
};

/** Changes the users in the list, and the total beside them; null: the panel fails. */
function rewriting(kind: RealKind, change: (users: unknown[], at: number) => Changed): Rewrite {
  const { field, path } = LISTS[kind];
  return (url, body) => {
    if (!path.test(url.pathname)) return body;
    const fields = body as Record<string, unknown>;
    const users = (field === null ? body : fields[field]) as unknown[];
    const changed = change(users, Number(url.searchParams.get('offset') ?? 0));
    if (changed === null || field === null) return changed?.users ?? null;
    const { total } = fields;
    return { ...fields, [field]: changed.users, ...(total !== undefined && changed.total) };
  };
}

type Changed = { users: unknown[]; total?: { total: number } } | null;

const half = (users: unknown[]) => users.slice(0, Math.floor(users.length / 2));

/** The lists that are not all, and what the command says without an option. */
const PARTS: readonly {
  name: string;
  change: (users: unknown[], at: number) => Changed;
  /** Null: the command works, and counts the users as gone. */
  says: RegExp | null;
  isOfPages?: true;
}[] = [
  {
    name: 'half of its users',
    change: (users) => ({ users: half(users), total: { total: half(users).length } }),
    says: null,
  },
  {
    name: 'half of the users that it counts',
    change: (users, at) => (at === 0 ? { users: half(users) } : { users: [] }),
    says: /its users changed while they were read/,
    isOfPages: true,
  },
  {
    name: 'no users',
    change: () => ({ users: [], total: { total: 0 } }),
    says: /has no users/,
  },
  {
    name: 'a fault on the second page',
    change: (users, at) => (at === 0 ? { users, total: { total: users.length + 500 } } : null),
    says: /it answers HTTP 500/,
    isOfPages: true,
  },
  { name: 'a fault instead of the list', change: () => null, says: /it answers HTTP 500/ },
];

export const listChecks: Checks = (check, kind) => {
  check(
    'a list that is not all of the users changes no link without a word of the operator',
    (panel) =>
      withCustomers(panel, [{}, {}, {}, {}], async () => {
        const relay = await startFaultRelay(new URL(panel.api.url).origin);
        const { pathname } = new URL(panel.api.url);
        const token = join(temporaryFolder(), 'token');
        writeFileSync(token, panel.api.token, { mode: 0o600 });
        const url = `${relay.url}${pathname === '/' ? '' : pathname}`;
        const way: Way = {
          name: 'API',
          words: `--from '${url}' --key-file '${token}'`,
          stdin: null,
        };
        const dataDir = join(temporaryFolder(), 'data');
        const { code } = await addProviderByCommand(dataDir);
        await bring(panel, way, dataDir, code);
        const before = await linksIn(dataDir, code);
        const tried: string[] = [];
        for (const { name, change, says, isOfPages } of PARTS) {
          if (isOfPages && !LISTS[kind].isPaged) continue;
          relay.rewrite = rewriting(kind, change);
          if (says === null) {
            const { gone } = await bring(panel, way, dataDir, code);
            expect({ name, isMany: gone > before.length / 3 }).toEqual({ name, isMany: true });
          }
          const ending = await attempt(panel, way, dataDir, code, '--disable-gone');
          const { code: exit, stderr } = ending;
          expect({ name, exit, stderr }).toEqual({
            name,
            exit: 1,
            stderr: expect.stringMatching(says ?? /links would end/),
          });
          expect({ name, links: await linksIn(dataDir, code) }).toEqual({ name, links: before });
          tried.push(name);
        }
        relay.rewrite = null;
        if (panel.secondAdmin !== undefined) {
          const other = await panel.secondAdmin();
          writeFileSync(token, other.token, { mode: 0o600 });
          const customer = await other.add(`gatepost_${crypto.randomUUID().slice(0, 8)}`);
          try {
            const own = await bring(panel, way, dataDir, code, '--disable-gone');
            const { gone, links, out_of_view: outOfView, view } = own;
            expect({ view, gone, outOfView, added: links.added }).toEqual({
              view: other.name,
              gone: 0,
              outOfView: before.length,
              added: 1,
            });
            const after = await linksIn(dataDir, code);
            expect(after.filter(({ key }) => before.some((link) => link.key === key))).toEqual(
              before,
            );
            tried.push('the users of another admin');
          } finally {
            await panel.users.remove(customer);
          }
        }
        await relay.stop();
        return tried.join(', ');
      }),
  );
};
