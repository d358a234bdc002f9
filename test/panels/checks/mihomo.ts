/** mihomo as a customer's app. */

import { expect } from 'bun:test';
import { call } from '../../support/app.ts';
import { until } from '../../support/until.ts';
import { HOST } from '../../support/upstream.ts';
import { front, withCustomers } from '../appliance.ts';
import { type App, mihomo, startMihomo } from '../mihomo.ts';
import type { Checks } from '../real-panel-tests.ts';

/** A fetch of mihomo ends after 20 s; some panels need as long on a busy machine. */
const FETCHES_MS_MAX = 120_000;

/** Fetches until there are servers. */
const servers = (app: App) =>
  until(
    'mihomo gets servers',
    async () => {
      const names = await app.fetch();
      return names.length > 0 && names;
    },
    FETCHES_MS_MAX,
  );

export const mihomoChecks: Checks = (check) => {
  check('mihomo gets its servers, and is counted to the last device', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      const program = mihomo();
      if (program === null) return { held: false, note: 'skipped: there is no mihomo' };
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      const apps: App[] = [];
      const open = async (port: number, hwid: string) => {
        const app = await startMihomo(program, {
          url: `http://${HOST}:${port}${customer.path}`,
          hwid,
        });
        apps.push(app);
        return app;
      };
      try {
        const own = await servers(await open(Number(new URL(panel.url).port), 'itself'));
        // One after the other: it fetches when it starts, too.
        const first = await open(gate.server.port, 'a-phone');
        expect(await servers(first)).toEqual(own);
        const second = await open(gate.server.port, 'a-tablet');
        expect(await servers(second)).toEqual(own);
        const third = await open(gate.server.port, 'a-third');
        expect([await third.fetch(), await first.fetch()]).toEqual([[], own]);
        expect(await gate.counts()).toEqual([2]);
        const { json } = await call(gate.server, '/api/list-install', gate.own);
        const freed = { install_id: json.data[0].id, hwid: 'a-phone' };
        await call(gate.server, '/api/delete-hwid', gate.own, freed);
        expect(await servers(third)).toEqual(own);
        // It keeps the servers that it has.
        expect(await first.fetch()).toEqual(own);
        expect(await gate.counts()).toEqual([2]);
        return `${own.length} servers`;
      } finally {
        for (const app of apps) await app.stop();
        await gate.stop();
      }
    }),
  );
};
