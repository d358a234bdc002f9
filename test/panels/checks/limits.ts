/** `limits = "panel"`: the limit of a link is what the API of the panel says of its user. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { call } from '../../support/app.ts';
import { temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { type Fronting, front, hasServers, linkKeyOf, withCustomers } from '../appliance.ts';
import type { Customer, RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

/** The API of a panel, behind a server that notes each question with a token. */
export function relayed({ api }: RealPanel) {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push(pathname + search);
      const { origin } = new URL(api.url);
      return fetch(origin + pathname + search, {
        headers: request.headers,
        redirect: 'manual',
        decompress: false,
      } as RequestInit);
    },
  });
  const token = join(temporaryFolder(), 'token');
  writeFileSync(token, api.token, { mode: 0o600 });
  const url = `http://127.0.0.1:${server.port}${new URL(api.url).pathname.replace(/\/$/, '')}`;
  return {
    asked,
    lines: `limits = "panel"\npanel_url = "${url}"\npanel_token_file = "${token}"`,
    stop: () => server.stop(true),
  };
}

/** Lets devices come; returns how many got servers. */
async function admittedOf(gate: Fronting, { path }: Customer, count: number): Promise<number> {
  let admitted = 0;
  for (let n = 0; n < count; n++) {
    if (hasServers(await gate.ask(path, { 'x-hwid': `phone-${n}` }))) admitted += 1;
  }
  return admitted;
}

async function limitsOf(gate: Fronting): Promise<number[]> {
  const { json } = await call(gate.server, '/api/list-install', gate.own);
  const limits: number[] = json.data.map((link: Record<string, number>) => link['install_limit']);
  return limits.toSorted((a, b) => a - b);
}

export const limitsChecks: Checks = (check, kind) => {
  const { givesLimits } = PANEL_TRAITS[kind];

  check('a link has the limit of its user, and a changed one afterwards', (panel) =>
    withCustomers(panel, [{ limit: 3 }, { limit: 0 }], async ([three, none]) => {
      if (three === undefined || none === undefined) throw new Error('no customer');
      const api = relayed(panel);
      const withLimits = async <T>(work: (gate: Fronting) => Promise<T>) => {
        const gate = await front(panel, { more: api.lines });
        return work(gate).finally(gate.stop);
      };
      try {
        const said = await withLimits(async (gate) => [
          await admittedOf(gate, three, 5),
          await admittedOf(gate, none, 5),
          ...(await limitsOf(gate)),
        ]);
        // Where the panel has no limit, the link has `default_limit`.
        expect(said).toEqual(givesLimits ? [3, 5, 3, 100] : [2, 2, 2, 2]);
        expect(api.asked).not.toEqual([]);
        await panel.users.change(three, { limit: 4 });
        const changed = await withLimits((gate) => admittedOf(gate, three, 6));
        expect(changed).toBe(givesLimits ? 4 : 2);
        return givesLimits ? '3, then 4; 0 is unlimited' : 'it has no limits: default_limit holds';
      } finally {
        api.stop();
      }
    }),
  );

  check('a key that a provider typed is asked about only once the panel proved it', (panel) =>
    withCustomers(panel, [{ limit: 3 }, { limit: 3 }], async ([customer, gone]) => {
      if (customer === undefined || gone === undefined) throw new Error('no customer');
      await panel.users.remove(gone);
      const api = relayed(panel);
      const gate = await front(panel, { more: api.lines });
      try {
        for (const one of [customer, gone]) {
          const typed = { install_limit: 1, subscription_key: linkKeyOf(kind, one) };
          const { json } = await call(gate.server, '/api/add-install', gate.own, typed);
          expect(json.rc).toBe(1);
        }
        expect(await admittedOf(gate, gone, 3)).toBe(0);
        expect(api.asked).toEqual([]);
        expect(await admittedOf(gate, customer, 1)).toBe(1);
        if (!givesLimits) return 'it has no limits';
        await until('the link follows the panel', async () => {
          await admittedOf(gate, customer, 2);
          return (await limitsOf(gate)).toString() === '1,3';
        });
        return undefined;
      } finally {
        await gate.stop();
        api.stop();
      }
    }),
  );
};
