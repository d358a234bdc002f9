/** Each route of a subscription in each spelling: the panel's answer, and the link that counts. */

import { expect } from 'bun:test';
import type { Got } from '../../support/upstream.ts';
import { askBoth, front, hasServers, withCustomers } from '../appliance.ts';
import type { Checks } from '../real-panel-tests.ts';
import { spellings } from './spellings.ts';

const PHONE = { 'x-hwid': 'phone-0001' };
const said = (got: Got) => (hasServers(got) ? 'servers' : String(got.status));

const namesOf = (rows: readonly string[][]) => [...new Set(rows.map((row) => row[1]))].join(', ');

export const routeChecks: Checks = (check) => {
  check('each route in each spelling counts on one link, or gets nothing', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      const rows: string[][] = [];
      const wrong: string[] = [];
      for (const { name, path, headers } of panel.routes(customer)) {
        const ways = Object.entries(spellings({ key: customer.key, path }));
        for (const [spelling, spelled] of ways) {
          const all = { ...PHONE, ...headers };
          const { own, got, isSame } = await askBoth(panel, gate, spelled, all);
          const counts = await gate.counts();
          const row = [name, spelling, said(own), said(got)];
          rows.push(row);
          const isRead = isSame || !hasServers(own) || !hasServers(got);
          const isOne = counts.length <= 1 && counts.every((count) => count <= 1);
          const isCounted = !hasServers(got) || counts.join() === '1';
          if (!(isRead && isOne && isCounted)) wrong.push(row.join(', '));
        }
        const plain = rows.find(([route, spelling]) => route === name && spelling === 'plain');
        expect({ name, plain: plain?.slice(2) }).toEqual({ name, plain: ['servers', 'servers'] });
      }
      expect(wrong.slice(0, 5)).toEqual([]);
      await gate.stop();
      const taken = rows.filter(([, , own]) => own === 'servers');
      const passed = taken.filter(([, , , got]) => got === 'servers');
      const left = taken.filter(([, , , got]) => got !== 'servers');
      const read = rows.filter(([, , own, got]) => own !== 'servers' && got === 'servers');
      const note =
        `${rows.length} ways; the panel gives servers on ${taken.length}, the gate on ` +
        `${passed.length} of them${left.length > 0 ? `, not ${namesOf(left)}` : ''}` +
        (read.length > 0 ? `; ${namesOf(read)} are read as the plain one` : '');
      return { held: true, note, rows };
    }),
  );

  check('an odd spelling first, then the plain one: one link', (panel) => {
    const names = Object.keys(spellings({ key: 'key', path: '/key' }));
    // All at a time: a panel may give the number of one who is gone to the next.
    return withCustomers(
      panel,
      names.map(() => ({})),
      async (customers) => {
        const apart: string[] = [];
        const gate = await front(panel);
        for (const [at, customer] of customers.entries()) {
          const spelling = names[at] ?? 'plain';
          await gate.ask(spellings(customer)[spelling] ?? '', PHONE);
          await gate.ask(customer.path, PHONE);
          const counts = await gate.counts();
          if (counts.length !== at + 1 || counts.some((count) => count !== 1)) {
            apart.push(`${spelling}: ${counts}`);
          }
        }
        expect(apart.slice(0, 3)).toEqual([]);
        await gate.stop();
        return `${names.length} spellings`;
      },
    );
  });
};
