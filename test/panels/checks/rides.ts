/** A message that rides on a real answer. */

import { expect } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import { notify } from '../../support/messaging.ts';
import { formOf, LINK_URL, ofApp, TEXTS } from '../../support/rides.ts';
import { ridingApp } from '../../support/riding-apps.ts';
import { addLink, enter } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { exchange, type Got, HOST } from '../../support/upstream.ts';
import { front, withCustomers } from '../appliance.ts';
import type { Checks } from '../real-panel-tests.ts';

const APPS = ['Happ', 'INCY', 'FlClashX', 'Koala Clash'];
const LANGUAGES = [
  ['en', 'de'],
  ['ru', 'RU'],
  ['fa', 'FA'],
  ['zh', 'CN'],
] as const;

/** Headers of the connection, of the moment, and those that keep an answer from caches. */
const NOT_COMPARED = /^(?:date|connection|transfer-encoding|vary|cache-control|x-hwid-active)$/;
/** Headers that a message has. */
const RIDING = /^announce(?:-url)?$/;

const rest = ({ headers }: Got) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !NOT_COMPARED.test(name) && !RIDING.test(name)).toSorted(),
  );

export const ridesChecks: Checks = (check) => {
  check('a message rides on its answers, and changes nothing else of them', (panel) =>
    withCustomers(panel, [{}], async ([customer]) => {
      if (customer === undefined) throw new Error('no customer');
      const gate = await front(panel);
      try {
        // A provider without devices cannot send.
        const { code } = await addLink(gate.server, gate.own, null);
        await enter(gate.server, 'elsewhere', code, hostHash(HOST));
        const routes = panel.routes(customer);
        const ask = (port: number, app: string, language: string, path: string) =>
          exchange(port, 'GET', path, { ...ofApp(app, language), 'x-hwid': 'a-phone' });
        const own = Number(new URL(panel.url).port);
        const before = new Map<string, Got>();
        for (const app of APPS) {
          for (const { name, path } of routes) {
            const got = await ask(gate.server.port, app, 'de', path);
            expect([name, got.status]).toEqual([name, 200]);
            before.set(`${app} ${name}`, got);
          }
        }
        await notify(
          gate.server,
          gate.own,
          formOf(TEXTS.en).body,
          { os: ['ios', 'android'] },
          {
            ...formOf(TEXTS.en),
            link_for_open: LINK_URL,
            locales: { RU: formOf(TEXTS.ru), FA: formOf(TEXTS.fa), CN: formOf(TEXTS.zh) },
          },
        );
        const shownBy = (app: string, { headers }: Got) =>
          ridingApp(app).shows(new Headers([...headers]))?.announcement;
        await until('it rides', async () => {
          const got = await ask(gate.server.port, 'INCY', 'de', customer.path);
          return shownBy('INCY', got) === TEXTS.en;
        });
        for (const app of APPS) {
          for (const { name, path } of routes) {
            for (const [language, tag] of LANGUAGES) {
              const got = await ask(gate.server.port, app, tag, path);
              const direct = await ask(own, app, tag, path);
              const of = { app, name, language };
              expect({ ...of, shown: shownBy(app, got) }).toEqual({
                ...of,
                shown: TEXTS[language],
              });
              expect({ ...of, headers: rest(got) }).toEqual({ ...of, headers: rest(direct) });
              expect(got.body === direct.body, `the body for ${app}, ${name}`).toBe(true);
            }
            const got = before.get(`${app} ${name}`);
            expect(got && rest(got)).toEqual(rest(await ask(own, app, 'de', path)));
          }
        }
        expect(await gate.counts()).toEqual([1, 1]);
        return `${APPS.length} apps × ${routes.length} routes × ${LANGUAGES.length} languages`;
      } finally {
        await gate.stop();
      }
    }),
  );
};
