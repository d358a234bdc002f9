/** The forms of links that bots hand out: which link counts the phones of a customer. */

import { expect } from 'bun:test';
import { call } from '../../support/app.ts';
import { type Fronting, front, hasServers, linkKeyOf, withCustomers } from '../appliance.ts';
import type { Customer, RealKind } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

const CODE = 'BotsLink0001';
const OTHER = 'BotsLink0002';

/** Adds a bot's link for three devices; returns its answer. */
async function addLink(gate: Fronting, installCode: string, more: Record<string, string> = {}) {
  const link = { install_limit: 3, install_code: installCode, ...more };
  const { json } = await call(gate.server, '/api/add-install', gate.own, link);
  expect(json).toMatchObject({ rc: 1 });
}

const withQuery = (path: string, query: string) =>
  `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** Lets four phones come to an address; returns how many got servers. */
async function comeTo(gate: Fronting, path: string): Promise<number> {
  let admitted = 0;
  for (const n of [1, 2, 3, 4]) {
    if (hasServers(await gate.ask(path, { 'x-hwid': `phone-${n}` }))) admitted += 1;
  }
  return admitted;
}

/** Returns code, devices and limit of the links, the newest first; a random code is empty. */
async function linksOf(gate: Fronting): Promise<(string | number)[][]> {
  const { json } = await call(gate.server, '/api/list-install', gate.own);
  return json.data.map((link: Record<string, string | number>) => [
    link['install_code'] === CODE || link['install_code'] === OTHER ? link['install_code'] : '',
    link['install_count'],
    link['install_limit'],
  ]);
}

type Form = (gate: Fronting, customer: Customer, kind: RealKind) => Promise<void>;

/** Each form, and the links after four phones. */
const FORMS: readonly [name: string, form: Form][] = [
  [
    'the key given to add-install, and a title behind the address',
    async (gate, customer, kind) => {
      await addLink(gate, CODE, { subscription_key: linkKeyOf(kind, customer) });
      // An app keeps what follows `#`.
      expect(await comeTo(gate, customer.path)).toBe(3);
      expect(await linksOf(gate)).toEqual([[CODE, 3, 3]]);
    },
  ],
  [
    'the code in the query, which ties the key at the first fetch',
    async (gate, customer) => {
      await addLink(gate, CODE);
      expect(await comeTo(gate, withQuery(customer.path, `installid=${CODE}`))).toBe(3);
      // From now on the key alone is enough.
      expect(await comeTo(gate, customer.path)).toBe(3);
      expect(await linksOf(gate)).toEqual([[CODE, 3, 3]]);
    },
  ],
  [
    'the code of another customer beside a key that has its link',
    async (gate, customer, kind) => {
      await addLink(gate, CODE, { subscription_key: linkKeyOf(kind, customer) });
      await addLink(gate, OTHER);
      expect(await comeTo(gate, withQuery(customer.path, `installid=${OTHER}`))).toBe(3);
      expect(await linksOf(gate)).toEqual([
        [OTHER, 0, 3],
        [CODE, 3, 3],
      ]);
    },
  ],
];

export const botLinkChecks: Checks = (check, kind) => {
  for (const [name, form] of FORMS) {
    check(`a bot's link: ${name}`, (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (customer === undefined) throw new Error('no customer');
        const gate = await front(panel);
        try {
          await form(gate, customer, kind);
          return undefined;
        } finally {
          await gate.stop();
        }
      }),
    );
  }

  if (kind !== '3x-ui') return;
  check("a bot's link: the code is the key", (panel) =>
    withCustomers(panel, [{ key: CODE }], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel, { more: 'codes_as_keys = true' });
      try {
        await addLink(gate, CODE);
        expect(await comeTo(gate, customer.path)).toBe(3);
        expect(await linksOf(gate)).toEqual([[CODE, 3, 3]]);
        return undefined;
      } finally {
        await gate.stop();
      }
    }),
  );
};
