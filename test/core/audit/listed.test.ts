/** The deeds of one provider push no entries of others out of the log, and hide none. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { addKey } from '../../../src/core/account/keys.ts';
import { accountOwner, findSignedIn, openSession } from '../../../src/core/account/session.ts';
import { ACTIONS, type Action, actAt, type Deed } from '../../../src/core/audit/entry.ts';
import {
  ALONE_MAX,
  type AuditTally,
  countAlone,
  countFolding,
  isAlone,
  LISTED_MAX,
  LISTED_WINDOW_MS,
  mayFold,
} from '../../../src/core/audit/listed.ts';
import { verifyAudit } from '../../../src/core/audit/verify.ts';
import { DAY_MS, HOUR_MS } from '../../../src/core/calendar.ts';
import { actingAs, type Core } from '../../../src/core/core.ts';
import type { Actor } from '../../../src/core/port/audit.ts';
import type { Provider } from '../../../src/core/port/provider.ts';
import { TooManyDeeds } from '../../../src/core/port/store.ts';
import { removeProvider } from '../../../src/core/provider.ts';
import { NO_TERMS } from '../../../src/core/slot.ts';
import { keepAuditBounded } from '../../../src/jobs/keep.ts';
import { ACT } from '../../support/actor.ts';
import { auditEntries } from '../../support/audit.ts';
import { type Engine, makeProvider, openEngine } from '../../support/delivery.ts';

let engine: Engine;
let looping: Provider;
let other: Provider;
beforeEach(async () => {
  engine = await openEngine();
  looping = await makeProvider(engine);
  other = await makeProvider(engine);
});
afterEach(() => engine.close());

const BOUNDS = { auditDays: 365, auditEntriesMax: 1_000_000 };
const FROM = '203.0.113.7';
const keyOf = ({ code: name }: Provider): Actor => ({
  kind: 'provider',
  name,
  key: 'aaaaaaaa',
  from: FROM,
});

/** The core as `actor` acts in it; `auditEntriesMax`: the setting. */
function as(actor: Actor, auditEntriesMax = BOUNDS.auditEntriesMax): Core {
  const { core } = engine;
  return actingAs({ ...core, limits: { ...core.limits, auditEntriesMax } }, () => actor);
}

const now = () => engine.clock.nowMs();

let linkCount = 0;

async function addLink(to: Provider, core = as(keyOf(to))): Promise<number> {
  linkCount += 1;
  const installCode = `Link${String(linkCount).padStart(8, '0')}`;
  const facts = { installCode, installLimit: 2, note: null, createdAtMs: 0 };
  const draft = { ...NO_TERMS, providerId: to.id, ...facts, installCountMax: 99 };
  const added = await core.store.addLink(draft, actAt(core, now()));
  if (typeof added === 'string') throw new Error(added);
  return added.id;
}

let changeCount = 0;

/** Changes the limit of a link so many times, each to another one. */
async function change(of: Provider, id: number, count: number, core = as(keyOf(of))) {
  await Promise.all(
    Array.from({ length: count }, () => {
      const installLimit = 10 + (changeCount++ % 89);
      return core.store.updateLink(of.id, id, { installLimit }, actAt(core, now()));
    }),
  );
}

const key = (of: Provider, core = as(keyOf(of))) =>
  addKey(core, of.id, { name: 'bot', scope: 'read', untilMs: null }, now());

async function entriesOf(action: Action, name: string) {
  const entries = await auditEntries(engine.core);
  return entries.filter((entry) => entry.name === name && entry.action === action);
}

/** The job that runs each minute. */
const keep = (settings = BOUNDS) => keepAuditBounded(engine.core, settings, now(), now());

async function problem(): Promise<string | null> {
  const measure = { expected: [], nowMs: now(), ...BOUNDS };
  return (await verifyAudit(engine.core, measure)).problem;
}

test('600 changes a minute have an entry each, and those beyond one together', async () => {
  const id = await addLink(looping);
  await change(looping, id, LISTED_MAX + 19);
  const freed = await addLink(looping);
  await change(looping, freed, 1);
  await engine.core.store.removeLink(looping.id, freed, actAt(as(keyOf(looping)), now()));
  expect(await entriesOf('install.update', looping.code)).toHaveLength(LISTED_MAX - 1);
  const until = new Date(now()).toISOString();

  // Others have their own bound, and the operator none.
  const otherId = await addLink(other);
  await change(other, otherId, 1);
  await change(looping, id, 3, as(ACT.actor));
  expect(await entriesOf('install.update', other.code)).toHaveLength(1);
  expect(await entriesOf('install.update', ACT.actor.name)).toHaveLength(3);

  await keep();
  expect(await entriesOf('install.remove', looping.code)).toEqual([]);
  engine.clock.advance(LISTED_WINDOW_MS);
  // The entry of a minute has room in a later minute that is full.
  await change(looping, id, LISTED_MAX);
  await keep();
  const at = new Date(now()).toISOString();
  const by = `${looping.code} (key aaaaaaaa)`;
  const folded = (await entriesOf('install.update', looping.code)).at(-1);
  expect(folded).toMatchObject({ at, who: 'provider', key: 'aaaaaaaa', from: FROM });
  expect(folded?.object).toEqual({
    id: freed,
    folded: 21,
    first_id: id,
    last_id: freed,
    since: until,
    until,
    by: `${by}: 21`,
  });
  expect(await entriesOf('install.add', looping.code)).toHaveLength(2);
  expect((await entriesOf('install.remove', looping.code)).map(({ object }) => object)).toEqual([
    {
      id: freed,
      hwids: 0,
      folded: 1,
      first_id: freed,
      last_id: freed,
      since: until,
      until,
      by: `${by}: 1`,
    },
  ]);
  const count = (await auditEntries(engine.core)).length;
  engine.clock.advance(LISTED_WINDOW_MS);
  await change(looping, id, 2);
  await keep();
  expect(await auditEntries(engine.core)).toHaveLength(count + 2);
  expect(await problem()).toBeNull();
});

test('an entry of folded deeds tells who did how many', async () => {
  const id = await addLink(looping);
  const staff = (name: string): Actor => ({ kind: 'account', name, from: FROM, staffOf: null });
  const { staffOf: _, ...anna } = staff('anna');
  await change(looping, id, LISTED_MAX);
  await change(looping, id, 5);
  await change(looping, id, 2, as(anna));
  for (let n = 1; n <= 9; n++) await change(looping, id, 1, as({ ...anna, name: `staff-${n}` }));
  // An account of the appliance is the operator's.
  await change(looping, id, 4, as(staff('root')));
  expect(await entriesOf('install.update', 'root')).toHaveLength(4);
  engine.clock.advance(LISTED_WINDOW_MS);
  await keep();
  const entry = (await auditEntries(engine.core)).at(-1);
  expect(entry).toMatchObject({ who: 'account', name: 'staff-9', provider: looping.code });
  const names = [1, 2, 3, 4, 5, 6].map((n) => `staff-${n}: 1`).join(', ');
  expect(entry?.object['by']).toBe(
    `${looping.code} (key aaaaaaaa): 6, anna: 2, ${names}, others: 3`,
  );
});

test('a deed about keys is not hidden among many of another kind', async () => {
  const id = await addLink(looping);
  await change(looping, id, LISTED_MAX + 50);
  const added = await key(looping);
  expect(await entriesOf('key.add', looping.code)).toMatchObject([{ object: { id: 1 } }]);
  expect(added).toMatchObject({ id: 1 });
});

test('60 such deeds a minute, each with its entry; then the deed is refused', async () => {
  const core = as(keyOf(looping));
  const keys = () => core.store.listKeys(looping.id);
  for (let n = 0; n < ALONE_MAX / 2; n++) {
    const made = await key(looping);
    await core.store.removeKey(looping.id, 'id' in made ? made.id : 0, actAt(core, now()));
  }
  await expect(key(looping)).rejects.toThrow(TooManyDeeds);
  expect(await keys()).toEqual([]);
  // It holds for staff of the provider, and not for the operator, nor for another provider.
  const anna: Actor = { kind: 'account', name: 'anna', from: FROM };
  await expect(key(looping, as(anna))).rejects.toThrow(TooManyDeeds);
  await key(looping, as({ ...anna, staffOf: null }));
  await key(looping, as(ACT.actor));
  await key(other);
  expect(await entriesOf('key.add', looping.code)).toHaveLength(ALONE_MAX / 2);
  expect(await entriesOf('key.remove', looping.code)).toHaveLength(ALONE_MAX / 2);
  engine.clock.advance(LISTED_WINDOW_MS);
  await key(looping);
  expect(await keys()).toHaveLength(3);
  expect(await problem()).toBeNull();
});

test('cut-offs have an entry each, beside many deeds of another kind, and a bound of their own', async () => {
  const core = as(keyOf(looping));
  const id = await addLink(looping);
  await change(looping, id, LISTED_MAX + 50);
  const cut = (n: number) => {
    const none = { keyHash: null, host: null, why: 'no panel', isByUser: false };
    const wanted = { installId: id, hwid: `phone-${n}`, ...none };
    return core.store.askCut(looping.id, wanted, actAt(core, now()));
  };
  for (let n = 0; n < ALONE_MAX; n++) await cut(n);
  expect(await entriesOf('cut.ask', looping.code)).toHaveLength(ALONE_MAX);
  // Refused whole: the HWID is not barred either.
  const bars = async () => (await core.store.listBars(id, now())).length;
  await expect(cut(ALONE_MAX)).rejects.toThrow(TooManyDeeds);
  expect(await bars()).toBe(ALONE_MAX);
  // Those of users and of staff count with them.
  const anna = as({ kind: 'account', name: 'anna', from: FROM });
  const none = { keyHash: null, host: null, why: 'no panel', isByUser: false };
  const wanted = { installId: id, hwid: 'phone-anna', ...none };
  await expect(anna.store.askCut(looping.id, wanted, actAt(anna, now()))).rejects.toThrow(
    TooManyDeeds,
  );
  engine.clock.advance(LISTED_WINDOW_MS);
  await cut(ALONE_MAX);
  await keep();
  expect(await entriesOf('cut.ask', looping.code)).toHaveLength(ALONE_MAX + 1);
  const folded = (await auditEntries(engine.core)).filter(({ object }) => 'folded' in object);
  expect(folded.map(({ action }) => action)).toEqual(['install.update']);
});

test('staff who change what no provider owns count at theirs; the appliance has no bound', async () => {
  const { core } = engine;
  const counts = async (name: string, providerId: number | null) => {
    const role = providerId === null ? 'observer' : 'owner';
    const draft = { name, grant: { providerId, role }, countMax: 9, createdAtMs: now() } as const;
    const added = await core.store.addAccount({ ...draft, invitation: null }, ACT);
    if (typeof added === 'string') throw new Error(added);
    const account = { id: added.id, name };
    const browser = { client: FROM, agent: '' };
    const small = as(ACT.actor, 1_000);
    let token = '';
    for (let n = 0; n < 53; n++) {
      const signedIn = await accountOwner(small, account);
      token = await openSession(small, browser, signedIn, 'password', now());
    }
    const actor = (await findSignedIn(small, token, now()))?.actor;
    return [actor?.staffOf, (await entriesOf('session.open', name)).length];
  };
  expect(await counts('anna', looping.id)).toEqual([looping.code, 50]);
  expect(await counts('root', null)).toEqual([null, 53]);
});

describe('a share of a day', () => {
  const MAX = { ...BOUNDS, auditEntriesMax: 1_000 };

  test('is a tenth, half of it for each kind; folded deeds wait for another day', async () => {
    const core = as(keyOf(looping), MAX.auditEntriesMax);
    const id = await addLink(looping, core);
    for (let minute = 0; minute < 3; minute++) {
      await change(looping, id, 40, core);
      engine.clock.advance(LISTED_WINDOW_MS);
      await keep(MAX);
    }
    expect(await entriesOf('install.update', looping.code)).toHaveLength(49);
    for (let n = 0; n < 50; n++) await key(looping, core);
    engine.clock.advance(LISTED_WINDOW_MS);
    await expect(core.store.removeKey(looping.id, 1, actAt(core, now()))).rejects.toThrow(
      TooManyDeeds,
    );
    const own = (await auditEntries(engine.core)).filter(({ name }) => name === looping.code);
    expect(own).toHaveLength(100);

    engine.clock.advance(DAY_MS);
    await keep(MAX);
    const last = (await auditEntries(engine.core)).at(-1);
    expect(last).toMatchObject({ action: 'install.update', object: { folded: 71 } });
    await change(looping, id, 1, core);
    await core.store.removeKey(looping.id, 1, actAt(core, now()));
  });
});

test('folded deeds of a removed provider get their entry', async () => {
  const id = await addLink(looping);
  await change(looping, id, LISTED_MAX);
  await removeProvider(engine.core, looping.code, now());
  expect(await engine.core.store.findProvider(looping.code)).toBeNull();
  engine.clock.advance(LISTED_WINDOW_MS);
  await keep();
  expect((await auditEntries(engine.core)).at(-1)).toMatchObject({ object: { folded: 1 } });
});

test('the next entry counts deeds that an older version left without one', async () => {
  const id = await addLink(looping);
  engine.db.query(`UPDATE provider SET unlisted_count = 7 WHERE id = ${looping.id}`).run();
  await change(looping, id, 2);
  const entries = await entriesOf('install.update', looping.code);
  expect(entries.map(({ object }) => object)).toEqual([{ id, unlisted_before: 7 }, { id }]);
});

describe('a minute and a day', () => {
  const NOW_MS = 400 * DAY_MS + HOUR_MS;
  const FULL: AuditTally = {
    fromMs: NOW_MS,
    count: LISTED_MAX,
    aloneCount: ALONE_MAX,
    unlisted: 0,
    day: 400,
    dayCount: LISTED_MAX,
    aloneDayCount: ALONE_MAX,
  };
  const DEED: Deed = { action: 'install.update', object: { id: 1 } };
  const isListed = (atMs: number, tally = FULL, entriesMax?: number) =>
    countFolding(tally, atMs, DEED, entriesMax).listed !== null;
  const isTaken = (atMs: number, tally = FULL, entriesMax?: number) => {
    try {
      return countAlone(tally, atMs, entriesMax).aloneCount > 0;
    } catch {
      return false;
    }
  };

  test.each([
    ['folding', isListed],
    ['refused', isTaken],
  ])('deeds that are %s: the last of a minute, and the first of the next', (_, fits) => {
    const less = { ...FULL, count: LISTED_MAX - 1, aloneCount: ALONE_MAX - 1 };
    expect(fits(NOW_MS, less)).toBe(true);
    expect(fits(NOW_MS + LISTED_WINDOW_MS - 1)).toBe(false);
    expect(fits(NOW_MS + LISTED_WINDOW_MS)).toBe(true);
    // A request that took long has no room; a clock set back by an hour begins again.
    expect(fits(NOW_MS - LISTED_WINDOW_MS)).toBe(false);
    expect(fits(NOW_MS - HOUR_MS + 1)).toBe(false);
    expect(fits(NOW_MS - HOUR_MS)).toBe(true);
  });

  test.each([
    ['folding', isListed],
    ['refused', isTaken],
  ])('deeds that are %s: half of the share of a day', (_, fits) => {
    const inDay = (n: number) => ({
      ...FULL,
      count: 0,
      aloneCount: 0,
      dayCount: n,
      aloneDayCount: n,
    });
    expect(fits(NOW_MS, inDay(49), 1_000)).toBe(true);
    expect(fits(NOW_MS, inDay(50), 1_000)).toBe(false);
    expect(fits(NOW_MS, inDay(49_999))).toBe(true);
    expect(fits(NOW_MS, inDay(50_000))).toBe(false);
    expect(fits(NOW_MS + DAY_MS, inDay(50), 1_000)).toBe(true);
    // A request from before midnight has no room of its own.
    expect(fits(NOW_MS - 2 * HOUR_MS, inDay(50), 1_000)).toBe(false);
    expect(fits(NOW_MS - 2 * DAY_MS, inDay(50), 1_000)).toBe(true);
  });

  test('deeds about links, domains, messages and sessions fold; no others, and bindings have a cap', () => {
    const deeds = Object.keys(ACTIONS).map((action) => ({ action: action as Action, object: {} }));
    const named = (all: readonly Deed[]) => all.map(({ action }) => action);
    const folding = deeds.filter(mayFold);
    expect(named(folding)).toEqual([
      ...(['install.add', 'install.update', 'install.import', 'install.free'] as const),
      ...(['install.revoke', 'install.remove', 'install.update-many'] as const),
      ...([
        'install.remove-many',
        'hwid.delete',
        'hwid.name',
        'domain.activate',
        'domain.rename',
      ] as const),
      ...(['domain.delete', 'notification.send', 'command.send'] as const),
      ...(['distribution.cancel', 'session.open', 'session.end'] as const),
    ]);
    const others = deeds.filter((deed) => !folding.includes(deed));
    expect(named(others.filter((deed) => !isAlone(deed)))).toEqual(['domain.add']);
    expect(folding.some(isAlone)).toBe(false);
  });
});

test('a change that is taken back is not counted', async () => {
  const id = await addLink(other);
  const tallies = () =>
    engine.db.query('SELECT change_count, alone_count FROM provider ORDER BY id').all();
  const before = tallies();
  const core = as(keyOf(other));
  const broken = { installLimit: 1_000 };
  await expect(core.store.updateLink(other.id, id, broken, actAt(core, now()))).rejects.toThrow();
  expect(tallies()).toEqual(before);
});
