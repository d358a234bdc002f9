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
import type { Route } from '../panel.ts';
import type { Checks } from '../real-panel-tests.ts';

const APPS = ['Happ', 'INCY', 'FlClashX', 'Koala Clash'];
const LANGUAGES = [
  ['en', 'de'],
  ['ru', 'RU'],
  ['fa', 'FA'],
  ['zh', 'CN'],
] as const;

/** Headers of the connection, of one answer alone, and those that keep an answer from caches. */
const NOT_COMPARED =
  /^(?:date|connection|transfer-encoding|set-cookie|vary|cache-control|x-hwid-active)$/;
/** Headers that a message has. */
const RIDING = /^announce(?:-url)?$/;

/** What a message must not change. */
const rest = ({ status, headers, body }: Got) => ({
  status,
  headers: [...headers].filter(([name]) => !NOT_COMPARED.test(name) && !RIDING.test(name)).sort(),
  body,
});

interface Case {
  app: string;
  language: (typeof LANGUAGES)[number];
  route: Route;
}

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
        const [first = { name: '', path: customer.path }, ...others] = routes;
        // Each app in each language, and each route for one of them: some panels take a second.
        const cases = [
          ...APPS.flatMap((app) => LANGUAGES.map((language) => ({ app, language, route: first }))),
          ...others.map((route) => ({ app: 'INCY', language: LANGUAGES[0], route })),
        ];
        const ask = (port: number, { app, language: [, tag], route }: Case) =>
          exchange(port, 'GET', route.path, { ...ofApp(app, tag), 'x-hwid': 'a-phone' });
        const own = Number(new URL(panel.url).port);
        const inEnglish = cases.filter(({ language }) => language === LANGUAGES[0]);
        const before: Got[] = [];
        for (const one of inEnglish) before.push(await ask(gate.server.port, one));
        const locales = { RU: formOf(TEXTS.ru), FA: formOf(TEXTS.fa), CN: formOf(TEXTS.zh) };
        const form = { ...formOf(TEXTS.en), link_for_open: LINK_URL, locales };
        await notify(gate.server, gate.own, form.body, { os: ['ios', 'android'] }, form);
        const shownBy = (app: string, { headers }: Got) =>
          ridingApp(app).shows(new Headers([...headers]))?.announcement;
        const plain = { app: 'INCY', language: LANGUAGES[0], route: first };
        await until('it rides', async () => {
          return shownBy('INCY', await ask(gate.server.port, plain)) === TEXTS.en;
        });
        for (const one of cases) {
          const [got, direct] = [await ask(gate.server.port, one), await ask(own, one)];
          const of = { app: one.app, language: one.language[0], route: one.route.name };
          const shown = shownBy(one.app, got);
          expect({ ...of, shown }).toEqual({ ...of, shown: TEXTS[one.language[0]] });
          expect({ ...of, ...rest(got) }).toEqual({ ...of, ...rest(direct) });
          const without = before[inEnglish.indexOf(one)];
          if (without !== undefined) expect(rest(without)).toEqual(rest(got));
        }
        expect(await gate.counts()).toEqual([1, 1]);
        return `${APPS.length} apps, ${LANGUAGES.length} languages, ${routes.length} routes`;
      } finally {
        await gate.stop();
      }
    }),
  );
};
