/** Imports by each way: all give the same links, twice, and after changes in the panel. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProviderByCommand, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { askPanel, front, hasServers, withCustomers } from '../appliance.ts';
import type { Customer, RealPanel, State, UserSpec } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';
import { type BroughtLink, bring, linksIn, type Way, waysOf } from '../ways.ts';

/** A data directory with its provider, and the way by which its users come. */
interface Place {
  way: Way;
  dataDir: string;
  code: string;
}

async function placeOf(way: Way): Promise<Place> {
  const dataDir = join(temporaryFolder(), 'data');
  const { code } = await addProviderByCommand(dataDir);
  return { way, dataDir, code };
}

const withoutDevices = (links: readonly BroughtLink[]) =>
  links.map((link) => ({ ...link, devices: [] as string[] }));

const isApiWithoutDevices = (panel: RealPanel, way: Way) =>
  panel.kind === '3x-ui' && way.name === 'API';

/** Brings each place by its way; expects the same links in all. Returns those of the first. */
async function bringAll(panel: RealPanel, places: readonly Place[]): Promise<BroughtLink[]> {
  let first: BroughtLink[] | null = null;
  const ways = waysOf(panel);
  for (const place of places) {
    const way = ways.find(({ name }) => name === place.way.name) ?? place.way;
    await bring(panel, way, place.dataDir, place.code);
    const links = await linksIn(place.dataDir, place.code);
    first ??= links;
    const isPart = isApiWithoutDevices(panel, way);
    expect({ way: way.name, links: isPart ? withoutDevices(links) : links }).toEqual({
      way: way.name,
      links: isPart ? withoutDevices(first) : first,
    });
    // Twice, by the same way.
    await expectNothing(panel, way, place);
  }
  return first ?? [];
}

/** Imports again; expects that nothing changes. */
async function expectNothing(panel: RealPanel, way: Way, { dataDir, code }: Place) {
  const { links, hwids } = await bring(panel, way, dataDir, code);
  const { added, updated, replaced } = links;
  const { name } = way;
  expect({ name, added, updated, replaced, hwids: hwids.added }).toEqual({
    name,
    added: 0,
    updated: 0,
    replaced: 0,
    hwids: 0,
  });
}

const noteOf = (links: readonly BroughtLink[], { name }: Customer) =>
  links.filter(({ note }) => (note ?? '').split(' · ')[0] === name);

/** Customers of each state, with and without a limit, and names and notes of every form. */
function specsOf({ odd, users }: RealPanel): Partial<UserSpec>[] {
  const ofStates = users.states.flatMap((state: State) => [{ state }, { state, limit: 4 }]);
  return [...ofStates, ...odd];
}

/** Starts an appliance that asks the API, with links disabled as their users are. */
async function frontOfDisabled(panel: RealPanel) {
  const file = join(temporaryFolder(), 'token');
  writeFileSync(file, panel.api.token, { mode: 0o600 });
  const api = waysOf(panel).find(({ name }) => name === 'API');
  if (api === undefined) throw new Error('no API');
  return front(panel, {
    more: `panel_url = "${panel.api.url}"\npanel_token_file = "${file}"`,
    before: async (dataDir, code) => {
      await bring(panel, api, dataDir, code, '--disable-disabled');
    },
  });
}

export const importChecks: Checks = (check, kind) => {
  check(
    'a link that an import disabled comes back once the API says that its user is active',
    (panel) =>
      withCustomers(panel, [{ state: 'disabled' }], async ([customer]) => {
        if (customer === undefined) throw new Error('no customer');
        const hwid = { 'x-hwid': 'phone-0001' };
        // Without a HWID: the panel would count it, and the import bring it.
        const own = await askPanel(panel, customer.path);
        const before = await frontOfDisabled(panel);
        expect(hasServers(await before.ask(customer.path, hwid))).toBe(false);
        expect((await before.counts()).reduce((sum, count) => sum + count, 0)).toBe(0);
        await before.stop();
        const after = await frontOfDisabled(panel);
        await panel.users.setState(customer, 'active');
        expect(hasServers(await after.ask(customer.path, hwid))).toBe(true);
        await after.stop();
        return `the panel answered ${own.status} while he was disabled`;
      }),
  );

  if (kind === 'pasarguard') {
    check('a new user with the number of a deleted one has none of its devices', async (panel) => {
      const admin = await panel.secondAdmin?.();
      if (admin === undefined) throw new Error('no second admin');
      const name = `gatepost_${crypto.randomUUID().slice(0, 8)}`;
      const old = await admin.add(name);
      await askPanel(panel, old.path, { 'x-hwid': 'phone-0001' });
      await panel.users.remove(old);
      // A time that no database rounds to that of the device.
      const sinceMs = Date.now();
      await until('two seconds are over', () => Date.now() - sinceMs > 2_000);
      const made = await admin.add(name);
      try {
        await askPanel(panel, made.path, { 'x-hwid': 'tablet-0001' });
        const links: BroughtLink[][] = [];
        for (const way of waysOf(panel)) {
          const { dataDir, code } = await placeOf(way);
          await bring(panel, way, dataDir, code);
          links.push(noteOf(await linksIn(dataDir, code), made));
        }
        const devices = links.map((own) => own.map((link) => link.devices.length));
        expect(devices).toEqual(links.map(() => [1]));
        return `${await panel.users.deviceCount(made)} in the panel, 1 here`;
      } finally {
        await panel.users.remove(made);
      }
    });
  }

  check('each way of an import gives the same links, twice, and after changes', (panel) =>
    withCustomers(panel, specsOf(panel), async (customers) => {
      const [first, second, third, fourth] = customers;
      if (!first || !second || !third || !fourth) throw new Error('too few customers');
      for (const hwid of ['phone-0001', 'tablet-0001']) {
        const facts = { 'x-device-os': 'Android', 'x-ver-os': '15', 'x-device-model': 'Pixel 9' };
        await askPanel(panel, second.path, { 'x-hwid': hwid, ...facts });
      }
      const ways = waysOf(panel);
      const places = await Promise.all(ways.map(placeOf));
      const before = await bringAll(panel, places);
      const [origin] = places;
      if (origin === undefined) throw new Error('no way');
      for (const way of ways) await expectNothing(panel, way, origin);

      const { users } = panel;
      await users.change(first, { note: 'оплачено', limit: 5 });
      await users.setState(second, 'disabled');
      const name = `${third.name}_2`;
      const renamed = await users.rename(third, name).catch(() => null);
      await users.remove(fourth);
      const made = await users.add({ name: `gatepost_${crypto.randomUUID().slice(0, 8)}` });
      try {
        const after = await bringAll(panel, places);
        const changed = waysOf(panel);
        for (const way of changed) await expectNothing(panel, way, origin);
        expect(after).toHaveLength(before.length + 1);
        expect(noteOf(after, made)).toHaveLength(1);
        // A customer who is gone keeps the link, and one who was disabled too.
        expect(noteOf(after, fourth)).toEqual(noteOf(before, fourth));
        expect(noteOf(after, second)).toEqual(noteOf(before, second));
        expect(noteOf(after, first)[0]?.note).toBe(`${first.name} · оплачено`);
        if (renamed !== null) {
          expect(noteOf(after, { ...third, name })).toHaveLength(1);
          expect(noteOf(after, third)).toEqual([]);
        }
      } finally {
        await users.remove(made);
      }
      const limits = new Set(before.map(({ limit }) => limit));
      const devices = before.reduce((sum, link) => sum + link.devices.length, 0);
      return `${ways.map((way) => way.name).join(', ')}: ${before.length} links, limits ${[...limits].join(' and ')}, ${devices} devices${renamed === null ? '; it renames no customer' : ''}`;
    }),
  );
};
