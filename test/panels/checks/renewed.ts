/** A customer whom `follow` saw end, and who paid: the panel decides, and the gate says the day. */

import { expect } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { askPanel, front, hasServers, secretOf, withCustomers } from '../appliance.ts';
import type { RealPanel } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

const PHONE = { 'x-hwid': 'phone-0001' };
/** Two passes of `follow`, ms, and the time of the panel. */
const SEEN_MS_MAX = 180_000;

/** Lines by which the panel is followed, with its secret where it signs. */
function followed(panel: RealPanel): string {
  const folder = temporaryFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const secret = panel.lines.includes('key_secret_file') ? null : secretOf(panel);
  return [
    'follow = "1m"',
    `panel_url = "${panel.api.url}"`,
    `panel_token_file = "${file('token', panel.api.token)}"`,
    ...(secret === null ? [] : [`key_secret_file = "${file('secret', secret)}"`]),
  ].join('\n');
}

export const renewedChecks: Checks = (check) => {
  check(
    'a customer who ended, as follow saw, reads the day, and is let in after a payment',
    (panel) =>
      withCustomers(panel, [{}], async ([customer]) => {
        if (customer === undefined) throw new Error('no customer');
        if (!panel.users.states.includes('expired')) return 'its API ends no customer';
        const gate = await front(panel, { more: followed(panel) });
        try {
          await until('the link of the first pass', async () => (await gate.counts()).length > 0);
          expect(hasServers(await gate.ask(customer.path, PHONE))).toBe(true);
          await panel.users.setState(customer, 'expired');
          const own = await askPanel(panel, customer.path, PHONE);
          if (hasServers(own)) {
            const same = await gate.ask(customer.path, PHONE);
            expect([hasServers(same), same.headers.has('x-subscription-state')]).toEqual([
              true,
              false,
            ]);
            return `${own.status}: it goes on sending servers, and refuses by Xray alone`;
          }
          const got = await until(
            'the next pass',
            async () => {
              const found = await gate.ask(customer.path, PHONE);
              return found.headers.has('x-subscription-state') && found;
            },
            SEEN_MS_MAX,
          );
          expect([got.status, got.body]).toEqual([own.status, own.body]);
          const [, coded = ''] = /^base64:(.*)$/.exec(got.headers.get('announce') ?? '') ?? [];
          const said = Buffer.from(coded, 'base64').toString();
          expect(said).toStartWith('This subscription ended on');
          await panel.users.setState(customer, 'active');
          const renewed = await gate.ask(customer.path, PHONE);
          expect(hasServers(renewed)).toBe(true);
          expect(renewed.headers.has('x-subscription-state')).toBe(false);
          return `${got.status}, ${got.body.length} bytes: ${said}`;
        } finally {
          await gate.stop();
        }
      }),
  );
};
