/** End and traffic: the API of a panel says of a customer what its header tells apps. */

import { expect } from 'bun:test';
import { makeLog } from '../../../src/base/log.ts';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import type { Figures } from '../../../src/core/port/subscription-figures.ts';
import { figuresIn, plausible } from '../../../src/core/subscription-figures.ts';
import { PanelApi } from '../../../src/http/upstream/panel-api.ts';
import { FakeClock } from '../../support/clock.ts';
import { tokensOf } from '../../support/panel-api.ts';
import { userAt } from '../../support/panel-readers.ts';
import { askPanel, linkKeyOf, withCustomers } from '../appliance.ts';
import type { Customer, RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

/** Days of a user on hold begin with the first connection, and some headers count them from now. */
const MOVING = ['on-hold'];

const inSeconds = (said: Figures | null) =>
  said && { ...said, endsAtMs: said.endsAtMs && Math.floor(said.endsAtMs / 1_000) };

/** Returns the figures of a customer by the header and by the API. */
async function bothOf(panel: RealPanel, customer: Customer) {
  const { api, kind } = panel;
  const { headers } = await askPanel(panel, customer.path);
  const at = { panel: kind, url: api.url, token: api.token };
  const { user } = await userAt(at, linkKeyOf(kind, customer));
  const nowMs = Date.now();
  const header = headers.get('subscription-userinfo');
  return {
    id: user?.id ?? '',
    byHeader: header === undefined ? null : inSeconds(figuresIn(header, nowMs)),
    byApi: inSeconds(user && plausible(user, nowMs)),
  };
}

export const figuresChecks: Checks = (check, kind) => {
  check('the API says the end and the traffic that apps read', (panel) =>
    withCustomers(
      panel,
      panel.users.states.map((state) => ({ state })),
      async (customers) => {
        const said: string[] = [];
        for (const [at, customer] of customers.entries()) {
          const state = panel.users.states[at] ?? 'active';
          const { byApi, byHeader } = await bothOf(panel, customer);
          if (byHeader === null || MOVING.includes(state)) continue;
          expect([state, byApi]).toEqual([state, byHeader]);
          said.push(state);
        }
        expect(said).toContain('active');
        return said.join(', ');
      },
    ),
  );

  check('the user of a link is found by what the link notes of it', (panel) =>
    withCustomers(panel, [{}, {}], async ([, customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const { api } = panel;
      const files = { tokenFile: 'token', accountFile: '', headersFile: '' };
      const clock = new FakeClock();
      const log = makeLog({ logFormat: 'json', logLevel: 'error' }, clock.nowMs);
      const deps = { clock, log, tokens: tokensOf(() => api.token, { clock }) };
      const asking = new PanelApi({ host: '', panel: kind, url: api.url, ...files }, deps);
      const { id } = await bothOf(panel, customer);
      const keys = await asking.ask(({ ask }) =>
        Array.fromAsync(PANEL_TRAITS[kind].api.keysFor(id, ask)),
      );
      expect(keys).toContain(linkKeyOf(kind, customer));
      return `of ${keys.length}`;
    }),
  );
};
