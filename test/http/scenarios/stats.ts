/** Figures by day: stats. */

import { DAY_MS } from '../../../src/core/calendar.ts';
import { FIGURES, type Figure, type RefusalReason } from '../../../src/core/port/figure.ts';
import {
  aBinding,
  aDevice,
  aLink,
  asked,
  CODE,
  FOREIGN_ID,
  type Given,
  gateScenarios,
  OWN,
  OWN_ID,
  type Scenario,
  timePasses,
} from './scenario.ts';

const STATS = '/api/stats';

const day = (date: string, figures: Partial<Record<Figure, number>> = {}) =>
  JSON.stringify({
    day: date,
    ...Object.fromEntries(FIGURES.map((figure) => [figure, figures[figure] ?? 0])),
  });
const answer = (...days: string[]) => `{"rc":1,"msg":"Ok","data":[${days.join(',')}]}`;
const refused =
  (reason: RefusalReason, providerId = OWN_ID): Given =>
  async (app) =>
    app.core.store.countRefusal({ installId: 1, providerId }, reason, app.clock.nowMs());
const aFreedSlot = asked('/api/delete-hwid', OWN, { install_code: CODE, hwid: 'a' });
const saved: Given = (app) => app.core.store.saveFigures();
/** The days up to the one on which the clock of the tests stands. */
const lastDates = (count: number) =>
  Array.from({ length: count }, (_, at) =>
    new Date(Date.UTC(2026, 10, 20 - count + 1 + at)).toISOString().slice(0, 10),
  );

const misfit = (days: string): Scenario => ({
  name: `days=${days}`,
  path: STATS,
  says: 'unknown_error',
  request: { days },
  answer: '{"rc":0,"msg":"Unknown error"}',
  detail: 'days must be a whole number from 1 to 731',
});

export const statsScenarios: Scenario[] = [
  ...gateScenarios(STATS, {}, [], 'listFigures'),
  {
    name: 'what happened on two days, and nothing of another provider',
    path: STATS,
    says: 'ok',
    given: [
      refused('link_disabled'),
      refused('link_limit_reached'),
      refused('link_limit_reached', FOREIGN_ID),
      timePasses(2 * DAY_MS),
      refused('hwid_required'),
      saved,
    ],
    request: { days: 4 },
    answer: answer(
      day('2026-11-19'),
      day('2026-11-20', { refused_disabled: 1, refused_full: 1 }),
      day('2026-11-21'),
      day('2026-11-22', { refused_hwid: 1 }),
    ),
  },
  {
    name: 'links, devices and slots of a day',
    path: STATS,
    says: 'ok',
    given: [aLink(), aBinding(), aDevice('a'), aDevice('b'), aDevice('b'), aFreedSlot, saved],
    request: { days: 1 },
    answer: answer(day('2026-11-20', { links: 1, admitted: 2, seen: 2, freed: 1 })),
  },
  {
    name: 'a month when nobody says how long',
    path: STATS,
    says: 'ok',
    request: {},
    answer: answer(...lastDates(30).map((date) => day(date))),
  },
  {
    name: 'two years and a day',
    path: STATS,
    says: 'ok',
    request: { days: 731 },
    answer: answer(...lastDates(731).map((date) => day(date))),
  },
  misfit('0'),
  misfit('732'),
  misfit('1.5'),
];
