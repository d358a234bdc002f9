/**
 * Answers that real panels gave, played without a panel: every reader takes each of them. A panel
 * of another version is recorded by `test/panels`.
 */

import { afterEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Silent } from '../../src/core/panel/api.ts';
import { noteOf } from '../../src/core/panel/cells.ts';
import { PANEL_TRAITS } from '../../src/core/panel/index.ts';
import type { PanelKind } from '../../src/core/panel/kind.ts';
import type { Figures } from '../../src/core/port/subscription-figures.ts';
import { figuresIn, plausible } from '../../src/core/subscription-figures.ts';
import type { Upstream } from '../../src/http/upstream/settings.ts';
import { layersOf, secretsIn, strangeIn } from '../support/made-up.ts';
import { answer, type PanelCall } from '../support/panel.ts';
import { doorKeyOf, keyOfUser, userAt, usersAt } from '../support/panel-readers.ts';
import {
  type Exchange,
  type Played,
  play,
  RECORDED,
  type RecordedCustomer,
  type Recording,
  recordedFolders,
  recordingIn,
  textOf,
} from '../support/recorded.ts';
import { keyPath, startFronted } from '../support/upstream.ts';

const played: Played[] = [];
afterEach(async () => {
  for (const one of played.splice(0)) await one.stop();
});

function start(exchanges: readonly Exchange[]): Played {
  const panel = play(exchanges);
  played.push(panel);
  return panel;
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** Answers as the panel did, by the address and the app. */
function answerAs(subscriptions: Recording['subscriptions']) {
  return async ({ head, target, send }: PanelCall): Promise<void> => {
    const agent = /^user-agent: (.*)\r$/im.exec(head)?.[1];
    const asked = subscriptions.filter((one) => one.asked?.['user-agent'] === agent);
    const found = asked.find(({ path }) => path === target);
    if (found === undefined) return void (await send(answer(404)));
    const { status, headers } = found;
    await send(answer(status, textOf(found), headers));
  };
}

/** The upstream as the page of the panel has it. */
function upstreamOf({ panel, lists }: Recording): Partial<Upstream> {
  const { path = '', key = '' } = lists[0]?.customers[0] ?? {};
  const first = path.replace(key, '{key}').replace(/\/auto$/, '');
  const paths = panel === '3x-ui' ? [first, '/json/{key}', '/clash/{key}'] : [first];
  const signing = panel === 'marzban' || panel === 'pasarguard' || panel === 'hiddify';
  return { panel, keyPaths: paths.map(keyPath), key: signing ? panel : 'plain', panelUrl: '' };
}

/** The key in an address, as the recorded customers have it. */
const keyIn = ({ lists }: Recording, path: string) =>
  lists.flatMap(({ customers }) => customers).find(({ key }) => path.includes(key))?.key;

const isLetIn = (state: string) => state === 'active' || state === 'on-hold';

/** 3x-ui switches off who ended, too. */
const isSwitchedOff = (panel: PanelKind, state: string) =>
  panel === '3x-ui' ? !isLetIn(state) : state === 'disabled';

describe.each(recordedFolders())('%s', (folder) => {
  const recording = recordingIn(folder);
  const { panel, lists, users, faults, subscriptions } = recording;
  const { givesLimits } = PANEL_TRAITS[panel];
  const at = (url: string) => ({ panel, url, token: 'a-token' });

  /** The limit that a reader must find; null: none. */
  const limitOf = ({ limit }: RecordedCustomer) => (givesLimits && limit !== 0 ? limit : null);

  test.each(lists)('an import takes the list when $after', async ({ customers, exchanges }) => {
    const { url, missing } = start(exchanges);
    const { users: read, view } = await usersAt(at(url));
    expect({ missing, view }).toEqual({ missing: [], view: '' });
    const found = new Map(read.map((user) => [keyOfUser(panel, user), user]));
    for (const customer of customers) {
      expect(found.get(doorKeyOf(panel, customer.key))).toMatchObject({
        name: customer.name,
        note: noteOf(customer.name, customer.note),
        limit: limitOf(customer),
        isDisabled: isSwitchedOff(panel, customer.state),
      });
    }
  });

  test('an import keeps the fields that it uses, and no other', async () => {
    for (const { exchanges } of lists) {
      const { rows } = await usersAt(at(start(exchanges).url));
      const { tables } = PANEL_TRAITS[panel].database;
      for (const [table, kept] of rows) {
        const names = new Set(kept.flatMap((row) => Object.keys(row)));
        expect([...names].filter((name) => !tables[table]?.includes(name))).toEqual([]);
      }
    }
  });

  test.each(users)('the door takes the answer about $customer.name', async (one) => {
    const { customer, exchanges } = one;
    const { url, missing } = start(exchanges);
    const { user, limit } = await userAt(at(url), doorKeyOf(panel, customer.key));
    expect(missing).toEqual([]);
    expect(user?.isActive).toBe(isLetIn(customer.state));
    expect(typeof limit === 'number' ? limit : null).toBe(limitOf(customer));
  });

  test('the API says the figures that apps read in the header', async () => {
    const nowMs = Date.UTC(2026, 10, 29);
    const headerOf = (key: string) =>
      subscriptions
        .filter(({ path }) => path.includes(key))
        .map(({ headers }) => headers['subscription-userinfo'])
        .find((header) => header !== undefined);
    const inSeconds = (said: Figures | null) =>
      said && { ...said, endsAtMs: said.endsAtMs && Math.floor(said.endsAtMs / 1_000) };
    const { users: read } = await usersAt(at(start(lists[0]?.exchanges ?? []).url));
    const all = new Map(read.map((user) => [keyOfUser(panel, user), user]));
    const states = new Set<string>();
    for (const { customer, exchanges } of users) {
      const { key, state } = customer;
      const header = headerOf(key);
      // The header of these two counts the days of a user on hold from each fetch.
      const isMoving = state === 'on-hold' && (panel === '3x-ui' || panel === 'hiddify');
      if (header === undefined || isMoving) continue;
      states.add(state);
      const { user } = await userAt(at(start(exchanges).url), doorKeyOf(panel, key));
      const inHeader = inSeconds(figuresIn(header, nowMs));
      expect(inSeconds(user && plausible(user, nowMs))).toEqual(inHeader);
      // So does the list, which `follow` reads.
      const listed = all.get(doorKeyOf(panel, key));
      expect(inSeconds(listed ? plausible(listed, nowMs) : null)).toEqual(inHeader);
    }
    const known = ['active', 'disabled', 'expired', ...(panel === 'pasarguard' ? [] : ['used-up'])];
    expect([...states]).toEqual(expect.arrayContaining(known));
  });

  test('the door keeps of a customer what a limit needs, and no secret', async () => {
    for (const { customer, exchanges } of users) {
      const { user } = await userAt(at(start(exchanges).url), doorKeyOf(panel, customer.key));
      const found = layersOf(JSON.stringify(user?.record)).flatMap(secretsIn);
      expect(found).toEqual([]);
    }
  });

  test.each(Object.entries(faults))('the readers know %s from a user', async (name, fault) => {
    const { url } = start([{ ...fault, path: fault.path.replace(/^\/none/, '') }]);
    const isOfGone = name.includes('deleted');
    const { key = '' } = users.at(isOfGone ? -1 : 0)?.customer ?? {};
    const reading = name.includes('import')
      ? usersAt(at(url)).then(() => 'read', String)
      : userAt(at(url), doorKeyOf(panel, key)).then(
          ({ user }) => user,
          ({ code, isOfPanel }: Silent) => ({ code, isOfPanel }),
        );
    const said = await reading;
    if (isOfGone) expect(said).toBeNull();
    else if (name.includes('import')) expect(said).toMatch(/refuses .*token|answers HTTP 404/);
    // A wrong token speaks of the panel; where it is a 404, as of 3x-ui, it may be the address.
    else expect(said).toEqual({ code: `API_${fault.status}`, isOfPanel: fault.status !== 404 });
  });

  test('the door passes each subscription byte for byte, and nothing else', async () => {
    const { get, links, stop } = await startFronted(answerAs(subscriptions), upstreamOf(recording));
    try {
      for (const exchange of subscriptions) {
        const { name, path, asked, isSubscription } = exchange;
        const { status, body } = await get(path, isSubscription ? 'a-phone' : null, asked);
        const isSame = status === exchange.status && body === latin1(textOf(exchange));
        expect({ name, isPassed: isSame && status === 200 }).toEqual({
          name,
          isPassed: isSubscription,
        });
      }
      const known = subscriptions.filter((one) => one.isSubscription);
      const keys = new Set(known.map(({ path }) => keyIn(recording, path)));
      expect((await links()).map(({ count }) => count)).toEqual([...keys].map(() => 1));
    } finally {
      await stop();
    }
  });
});

test('no recording has a key, a token, a password or an address that was not made up', () => {
  const strange = recordedFolders().flatMap((folder) =>
    readdirSync(join(RECORDED, folder)).flatMap((file) =>
      strangeIn(readFileSync(join(RECORDED, folder, file), 'utf8')).map((one) => `${file}: ${one}`),
    ),
  );
  expect(strange).toEqual([]);
});
