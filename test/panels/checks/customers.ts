/** Customers of every state, name and note: what the panel says to them, and what the gate says. */

import { expect } from 'bun:test';
import { askBoth, askPanel, front, hasServers, importByApi, withCustomers } from '../appliance.ts';
import type { RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

const PHONE = { 'x-hwid': 'phone-0001' };

/** A key of the same form; of a signed token, one with another signature. */
const madeUp = (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');

export const customerChecks: Checks = (check) => {
  check('customers of every script and length are imported and get their servers', (panel) =>
    withCustomers(panel, panel.odd, async (customers) => {
      const gate = await front(panel, {
        before: async (dataDir, code) => void (await importByApi(panel, dataDir, code)),
      });
      const imported = await gate.counts();
      for (const { name, path } of customers) {
        const got = await gate.ask(path, { 'x-hwid': 'a-phone' });
        expect({ name, hasServers: hasServers(got) }).toEqual({ name, hasServers: true });
      }
      // Each on the link that the import brought, and no link beside them.
      expect(await gate.counts()).toEqual(imported.map((_, at) => (at < customers.length ? 1 : 0)));
      await gate.stop();
      return `${customers.length} names and notes`;
    }),
  );

  check('devices that the panel counted are those of the link', (panel) =>
    withCustomers(panel, [{ limit: 3 }], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      for (const hwid of ['phone-0001', 'tablet-0001']) {
        await askPanel(panel, customer.path, { 'x-hwid': hwid });
      }
      const counted = await panel.users.deviceCount(customer);
      if (counted === null) return 'it counts no devices';
      expect(counted).toBe(2);
      const gate = await front(panel, {
        before: async (dataDir, code) => void (await importByApi(panel, dataDir, code)),
      });
      for (const hwid of ['phone-0001', 'tablet-0001', 'a-third-001', 'a-fourth-01']) {
        const got = await gate.ask(customer.path, { 'x-hwid': hwid });
        const isIn = hwid !== 'a-fourth-01';
        expect({ hwid, hasServers: hasServers(got) }).toEqual({ hwid, hasServers: isIn });
      }
      expect(await gate.counts()).toEqual([3]);
      await gate.stop();
      return `${counted} devices`;
    }),
  );

  check('a customer who ended gets the answer of the panel', (panel) => {
    const states = panel.users.states.filter((state) => state !== 'active');
    return withCustomers(
      panel,
      states.map(() => ({})),
      async (customers) => {
        const gate = await front(panel);
        const said: string[] = [];
        for (const [at, customer] of customers.entries()) {
          const state = states[at] ?? 'disabled';
          const before = await askPanel(panel, customer.path, PHONE);
          await panel.users.setState(customer, state);
          const links = (await gate.counts()).length;
          const { own, isSame } = await askBoth(panel, gate, customer.path, PHONE);
          const others = own.body === before.body ? 'as before' : 'others';
          said.push(`${state}: ${own.status}, servers: ${hasServers(own) ? others : 'none'}`);
          expect({ state, isSame }).toEqual({ state, isSame: true });
          const made = (await gate.counts()).length - links;
          expect({ state, made }).toEqual({ state, made: hasServers(own) ? 1 : 0 });
        }
        await gate.stop();
        return said.join('; ');
      },
    );
  });

  check('what the panel refuses is refused by it, and takes no slot', (panel) =>
    withCustomers(panel, [{}, { limit: 1 }], async ([customer, limited]) => {
      if (customer === undefined || limited === undefined) throw new Error('no customer');
      const gate = await front(panel);
      const isFull = (await panel.users.deviceCount(limited)) !== null;
      // One device more than the panel allows; the gate allows two.
      if (isFull) await askPanel(panel, limited.path, PHONE);
      await panel.users.remove(customer);
      const asked = {
        'a customer who is gone': { path: customer.path, hwid: PHONE['x-hwid'] },
        'a key that no customer had': {
          path: customer.path.replace(customer.key, madeUp(customer.key)),
          hwid: PHONE['x-hwid'],
        },
        ...(isFull && { 'a device over its limit': { path: limited.path, hwid: 'tablet-0001' } }),
      };
      const said: string[] = [];
      for (const [name, { path, hwid }] of Object.entries(asked)) {
        const { own, isSame } = await askBoth(panel, gate, path, { 'x-hwid': hwid });
        said.push(`${name}: ${own.status}`);
        expect({ name, hasServers: hasServers(own) }).toEqual({ name, hasServers: false });
        expect({ name, isSame }).toEqual({ name, isSame: true });
        expect({ name, counts: await gate.counts() }).toEqual({ name, counts: [] });
      }
      await gate.stop();
      return said.join('; ');
    }),
  );

  check('a customer who paid is let in at the next fetch', (panel) => {
    const ended = panel.users.states.filter((state) => state !== 'active' && state !== 'on-hold');
    return withCustomers(
      panel,
      ended.map(() => ({})),
      async (customers) => {
        const gate = await front(panel, {
          before: async (dataDir, code) => void (await importByApi(panel, dataDir, code)),
        });
        const imported = (await gate.counts()).length;
        for (const [at, customer] of customers.entries()) {
          const state = ended[at] ?? 'disabled';
          const ask = () => gate.ask(customer.path, PHONE);
          const before = hasServers(await ask());
          await panel.users.setState(customer, state);
          const own = await askPanel(panel, customer.path, PHONE);
          const refused = await ask();
          expect({ state, status: refused.status }).toEqual({ state, status: own.status });
          await panel.users.setState(customer, 'active');
          const after = hasServers(await ask());
          expect({ state, before, after }).toEqual({ state, before: true, after: true });
        }
        expect((await gate.counts()).length).toBe(imported);
        await gate.stop();
        return ended.join(', ');
      },
    );
  });

  check(
    'a customer who was deleted and made again gets servers; a renamed one keeps them',
    (panel) =>
      withCustomers(panel, [{}], async ([first]) => {
        if (first === undefined) throw new Error('no customer');
        const gate = await front(panel);
        const ask = (path: string) => gate.ask(path, PHONE);
        expect(hasServers(await ask(first.path))).toBe(true);
        const renamed = await panel.users.rename(first, `${first.name}_2`).catch(() => null);
        if (renamed !== null) expect(hasServers(await ask(renamed.path))).toBe(true);
        await panel.users.remove(renamed ?? first);
        expect(hasServers(await ask(first.path))).toBe(false);
        let links = 0;
        const again = await madeAgain(panel, first.name);
        try {
          expect(hasServers(await ask(again.path))).toBe(true);
          const own = await askPanel(panel, first.path, PHONE);
          expect(hasServers(await ask(first.path))).toBe(hasServers(own));
          links = (await gate.counts()).length;
        } finally {
          await panel.users.remove(again);
        }
        await gate.stop();
        const name = renamed === null ? 'it renames no customer; ' : '';
        return `${name}made again: ${links === 1 ? 'the same link' : 'a new link'}`;
      }),
  );
};

/** A token of Marzban has the second of its customer, whom a new one must not share. */
async function madeAgain({ users }: RealPanel, name: string) {
  const startMs = Date.now();
  while (Math.floor(Date.now() / 1000) === Math.floor(startMs / 1000)) await Bun.sleep(20);
  return users.add({ name });
}
