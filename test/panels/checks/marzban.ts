/** Marzban alone: a long name, users who are made again, tokens that ended, admins. */

import { expect } from 'bun:test';
import { createHmac } from 'node:crypto';
import { hostHash } from '../../../src/core/host-name.ts';
import { call } from '../../support/app.ts';
import { SUB_HOST } from '../../support/proxies.ts';
import { bind, expectOk } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { clientOf } from '../api.ts';
import {
  type Fronting,
  front,
  hasServers,
  importByApi,
  linkKeyOf,
  secretOf,
  withCustomers,
} from '../appliance.ts';
import type { Customer, RealPanel } from '../panel.ts';
import { logIn } from '../panels/signing.ts';
import type { Checks } from '../real-panel-tests.ts';
import { gateLines, TRUSTING } from './before-gate.ts';
import { relayed } from './limits.ts';

const apiOf = ({ api }: RealPanel) =>
  clientOf(`${api.url}/api`, { authorization: `Bearer ${api.token}` });

interface Link {
  id: number;
  note: string;
  install_count: number;
  install_limit: number;
  status: number;
}

const linksOf = async ({ server, own }: Fronting): Promise<Link[]> =>
  (await call(server, '/api/list-install', own)).json.data;

const admits = async (gate: Fronting, { path }: Customer, hwid: string) =>
  hasServers(await gate.ask(path, { 'x-hwid': hwid }));

/** The customer as the API gives it now, with a new token. */
async function again(panel: RealPanel, customer: Customer): Promise<Customer> {
  const { subscription_url: path } = await apiOf(panel)<{ subscription_url: string }>(
    'GET',
    `/user/${encodeURIComponent(customer.id)}`,
  );
  return { ...customer, path, key: path.slice('/sub/'.length) };
}

export const marzbanChecks: Checks = (check) => {
  check('a name of more than 128 characters, which it takes on SQLite', (panel) =>
    withCustomers(panel, [{ name: `abc.${'x'.repeat(125)}` }], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      try {
        const imported = importByApi(panel, gate.dataDir, gate.own.code);
        await expect(imported).rejects.toThrow('1 user of the panel cannot be served');
        expect(await admits(gate, customer, 'a-phone')).toBe(false);
        return { held: false, note: 'known: it is refused here, and an import names it' };
      } finally {
        await gate.stop();
      }
    }),
  );

  check('the tokens of its first versions are the same link', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const coded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
      const claims = { sub: customer.name, access: 'subscription', iat: Date.now() / 1_000 + 1 };
      const signed = `${coded({ alg: 'HS256', typ: 'JWT' })}.${coded(claims)}`;
      const mac = createHmac('sha256', secretOf(panel) ?? '')
        .update(signed)
        .digest('base64url');
      const old = { ...customer, path: `/sub/${signed}.${mac}` };
      const gate = await front(panel);
      try {
        await until('the token is of the past', () => Date.now() / 1_000 > claims.iat);
        expect([
          await admits(gate, old, 'a-phone'),
          await admits(gate, customer, 'a-tablet'),
          await admits(gate, old, 'a-third'),
        ]).toEqual([true, true, false]);
        expect(await gate.counts()).toEqual([2]);
        return undefined;
      } finally {
        await gate.stop();
      }
    }),
  );

  check('who is deleted and made again under the name is another customer', (panel) =>
    withCustomers(panel, [{}], async ([first]) => {
      if (first === undefined) throw new Error('no customer');
      const madeAtMs = Date.now();
      const gate = await front(panel, {
        before: async (dataDir, code) => void (await importByApi(panel, dataDir, code)),
      });
      try {
        for (const hwid of ['a-phone', 'a-tablet'])
          expect(await admits(gate, first, hwid)).toBe(true);
        await panel.users.remove(first);
        expect(await admits(gate, first, 'a-phone')).toBe(false);
        // Two users of one second count as one.
        await until('another second', () => Date.now() - madeAtMs > 2_500);
        const second = await panel.users.add({ name: first.name });
        await importByApi(panel, gate.dataDir, gate.own.code, ['--yes']);
        expect(await admits(gate, first, 'a-phone')).toBe(false);
        for (const hwid of ['b-phone', 'b-tablet']) {
          expect(await admits(gate, second, hwid)).toBe(true);
        }
        const [link] = (await linksOf(gate)).filter(({ note }) => note === first.name);
        expect(link?.install_count).toBe(2);
        // Under another name it is a new customer, and a new link.
        await panel.users.remove(second);
        const renamed = await panel.users.add({ name: `${first.name}_2` });
        expect(await admits(gate, renamed, 'b-phone')).toBe(true);
        await panel.users.remove(renamed);
        await panel.users.add({ name: first.name });
        return undefined;
      } finally {
        await gate.stop();
      }
    }),
  );

  check('a token that was revoked ends, and the link and its devices stay', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      try {
        const signedAtMs = Date.now();
        for (const hwid of ['a-phone', 'a-tablet']) {
          expect(await admits(gate, customer, hwid)).toBe(true);
        }
        await until('another second', () => Date.now() - signedAtMs > 2_000);
        await apiOf(panel)('POST', `/user/${customer.id}/revoke_sub`);
        expect(await admits(gate, customer, 'a-phone')).toBe(false);
        const renewed = await again(panel, customer);
        expect(renewed.path).not.toBe(customer.path);
        expect(await admits(gate, renewed, 'a-phone')).toBe(true);
        expect(await admits(gate, renewed, 'a-third')).toBe(false);
        expect(await gate.counts()).toEqual([2]);
        return undefined;
      } finally {
        await gate.stop();
      }
    }),
  );

  check('behind /gate a token that ended takes no slot', (panel) =>
    withCustomers(panel, [{}, {}], async ([customer, gone]) => {
      if (customer === undefined || gone === undefined) throw new Error('no customer');
      const madeAtMs = Date.now();
      const gate = await front(panel, { more: `${gateLines(panel)}\n${TRUSTING}` });
      try {
        await bind(gate.server, gate.own, hostHash(SUB_HOST));
        for (const one of [customer, gone]) {
          const link = { install_limit: 5, subscription_key: linkKeyOf('marzban', one) };
          await expectOk(call(gate.server, '/api/add-install', gate.own, link));
        }
        await until('another second', () => Date.now() - madeAtMs > 2_000);
        await apiOf(panel)('POST', `/user/${customer.id}/revoke_sub`);
        await panel.users.remove(gone);
        const renewed = await again(panel, customer);
        const ask = async ({ path }: Customer, hwid: string) => {
          const asked = {
            'x-original-uri': path,
            'x-original-method': 'GET',
            'x-forwarded-host': SUB_HOST,
            'x-forwarded-for': '192.0.2.7',
            'x-hwid': hwid,
          };
          return (await fetch(`${gate.server.url}/gate`, { headers: asked })).status;
        };
        expect([
          await ask(customer, 'a-phone'),
          await ask(renewed, 'a-phone'),
          await ask(customer, 'a-tablet'),
          await ask(gone, 'a-phone'),
        ]).toEqual([403, 204, 403, 403]);
        expect((await gate.counts()).toSorted()).toEqual([0, 1]);
        return undefined;
      } finally {
        await gate.stop();
      }
    }),
  );

  check('a token of an admin who sees a part: a customer of another silences no other', (panel) =>
    withCustomers(panel, [{}], async ([foreign]) => {
      if (foreign === undefined) throw new Error('no customer');
      const reseller = { username: `part_${foreign.name}`, password: 'made-up-password-3' };
      await apiOf(panel)('POST', '/admin', { ...reseller, is_sudo: false });
      const token = await logIn(Object.assign(new URL(panel.url), reseller));
      const part = { ...panel, api: { ...panel.api, token } };
      const made = { username: `${foreign.name}_own`, proxies: { shadowsocks: {} }, inbounds: {} };
      const { subscription_url: path } = await apiOf(part)<{ subscription_url: string }>(
        'POST',
        '/user',
        made,
      );
      const own = { name: made.username, id: made.username, key: path.slice(5), path };
      const api = relayed(part);
      const gate = await front(panel, { more: api.lines });
      try {
        for (const customer of [foreign, own]) {
          for (const hwid of ['a-phone', 'a-tablet']) {
            expect([customer.name, await admits(gate, customer, hwid)]).toEqual([
              customer.name,
              true,
            ]);
          }
        }
        expect(api.asked).toEqual([`/api/user/${foreign.name}`, `/api/user/${own.name}`]);
        return undefined;
      } finally {
        await gate.stop();
        api.stop();
        await panel.users.remove(own);
      }
    }),
  );
};
