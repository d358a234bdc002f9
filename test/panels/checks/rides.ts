/** A message that rides on a real answer. */

import { expect } from 'bun:test';
import { hostHash } from '../../../src/core/host-name.ts';
import { notify } from '../../support/messaging.ts';
import { formOf, LINK_URL, ofApp, TEXTS } from '../../support/rides.ts';
import { ridingApp } from '../../support/riding-apps.ts';
import { addLink, enter } from '../../support/shop.ts';
import { until } from '../../support/until.ts';
import { type Got, HOST } from '../../support/upstream.ts';
import { askBoth, front, withCustomers } from '../appliance.ts';
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
const NOT_COMPARED = new Set([
  ...['date', 'connection', 'transfer-encoding', 'content-length', 'set-cookie', 'vary'],
  ...['cache-control', 'x-hwid-active'],
]);
/** Headers that a message has. */
const RIDING = /^announce(?:-url)?$/;

/** The headers that a message must not change. */
const rest = ({ headers }: Got) =>
  [...headers].filter(([name]) => !NOT_COMPARED.has(name) && !RIDING.test(name)).sort();

interface Case {
  app: string;
  language: (typeof LANGUAGES)[number];
  route: Route;
}

const headersOf = ({ app, language: [, tag] }: Case): Record<string, string> => {
  const said = Object.entries(ofApp(app, tag)).map(([name, text]) => [name.toLowerCase(), text]);
  return { ...Object.fromEntries(said), 'x-hwid': 'a-phone' };
};

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
        const inEnglish = cases.filter(({ language }) => language === LANGUAGES[0]);
        const before: Got[] = [];
        for (const one of inEnglish) before.push(await gate.ask(one.route.path, headersOf(one)));
        const locales = { RU: formOf(TEXTS.ru), FA: formOf(TEXTS.fa), CN: formOf(TEXTS.zh) };
        const form = { ...formOf(TEXTS.en), link_for_open: LINK_URL, locales };
        await notify(gate.server, gate.own, form.body, { os: ['ios', 'android'] }, form);
        const shownBy = (app: string, { headers }: Got) =>
          ridingApp(app).shows(new Headers([...headers]))?.announcement;
        const plain = { app: 'INCY', language: LANGUAGES[0], route: first };
        await until('it rides', async () => {
          return shownBy('INCY', await gate.ask(first.path, headersOf(plain))) === TEXTS.en;
        });
        for (const one of cases) {
          const { got, own, isSame } = await askBoth(panel, gate, one.route.path, headersOf(one));
          const of = { app: one.app, language: one.language[0], route: one.route.name };
          const shown = shownBy(one.app, got);
          expect({ ...of, shown }).toEqual({ ...of, shown: TEXTS[one.language[0]] });
          expect({ ...of, isSame, headers: rest(got) }).toEqual({
            ...of,
            isSame: true,
            headers: rest(own),
          });
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
