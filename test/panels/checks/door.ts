/** The rules of the door in front of a real panel. */

import { expect } from 'bun:test';
import { HOST } from '../../support/upstream.ts';
import { front, hasServers, importByApi, withCustomers } from '../appliance.ts';
import type { Checks } from '../real-panel-tests.ts';
import { asHost, detours, noSubscriptions } from './detours.ts';

/** Signs that 3x-ui takes in a subscription id. */
const ODD_SIGNS = ['!', '(', ')', "'", '*', ',', ';', '&', '$', '%', '%41', '#', '?', '😀', 'ﬁ'];
const JUNK = ['null', 'undefined', 'unknown', 'none', '0', '00000000', 'aaaaaaaa'];

export const doorChecks: Checks = (check, kind) => {
  check('two devices take the slots, and no detour leads to the servers', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      for (const hwid of ['a-phone', 'a-tablet']) {
        const got = await gate.ask(customer.path, { 'x-hwid': hwid });
        expect({ hwid, hasServers: hasServers(got) }).toEqual({ hwid, hasServers: true });
      }
      const ways = await detours(panel, customer);
      const led: string[] = [];
      for (const { name, path, headers } of ways) {
        if (hasServers(await gate.ask(path, headers))) led.push(name);
      }
      expect(led).toEqual([]);
      expect(await gate.counts()).toEqual([2]);
      await gate.stop();
      return `${ways.length} detours`;
    }),
  );

  check('what is no subscription makes no link and takes no slot', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      for (const path of noSubscriptions(kind, customer)) {
        await gate.ask(path, { 'x-hwid': 'a-phone' });
        expect({ path, counts: await gate.counts() }).toEqual({ path, counts: [] });
      }
      await gate.stop();
      return undefined;
    }),
  );

  check('a customer who is disabled at the import comes back with the panel', (panel) =>
    withCustomers(panel, [{ state: 'disabled' }], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel, {
        before: async (dataDir, code) => void (await importByApi(panel, dataDir, code)),
      });
      await panel.users.setState(customer, 'active');
      expect(hasServers(await gate.ask(customer.path, { 'x-hwid': 'a-phone' }))).toBe(true);
      await gate.stop();
      return undefined;
    }),
  );

  check('a HWID that is none gets nothing, and a short one is a HWID', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      for (const junk of JUNK) {
        const got = await gate.ask(customer.path, { 'x-hwid': junk });
        expect({ junk, hasServers: hasServers(got) }).toEqual({ junk, hasServers: false });
      }
      expect(hasServers(await gate.ask(customer.path, { 'x-hwid': 'x' }))).toBe(true);
      expect(await gate.counts()).toEqual([1]);
      await gate.stop();
      return undefined;
    }),
  );

  check('the addresses in the answers of the panel keep the port', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      const headers = { 'x-hwid': 'a-phone', Host: `${HOST}:2096` };
      await gate.ask(customer.path, headers);
      const { name, path } = asHost(kind, customer);
      const got = await gate.ask(path, headers);
      expect(got.headers.get(name)).toContain(`//${HOST}:2096/`);
      await gate.stop();
      return undefined;
    }),
  );

  if (kind !== '3x-ui') return;
  check('each sign of a key that it takes is one here', (panel) => {
    const keys = ODD_SIGNS.map((sign) => `${crypto.randomUUID().slice(0, 8)}${sign}x`);
    return withCustomers(
      panel,
      keys.map((key) => ({ key })),
      async (customers) => {
        const gate = await front(panel);
        for (const { key, path } of customers) {
          for (const hwid of ['a-phone', 'a-tablet']) {
            const got = await gate.ask(path, { 'x-hwid': hwid });
            expect({ key, hasServers: hasServers(got) }).toEqual({ key, hasServers: true });
          }
          const third = await gate.ask(path, { 'x-hwid': 'a-third' });
          expect({ key, status: third.status }).toEqual({ key, status: 404 });
        }
        expect(await gate.counts()).toEqual(ODD_SIGNS.map(() => 2));
        await gate.stop();
        return undefined;
      },
    );
  });
};
