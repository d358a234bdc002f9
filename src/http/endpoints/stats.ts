/** Figures by day: an extension of the contract. */

import { type TInteger, Type } from '@sinclair/typebox';
import { utcDay } from '../../core/calendar.ts';
import {
  type DayFigures as Day,
  FIGURE_DAYS,
  FIGURE_MEANINGS,
  lastDays,
  listFigures,
} from '../../core/figures.ts';
import { FIGURES, type Figure } from '../../core/port/figure.ts';
import type { RowList } from '../answer/list-text.ts';
import { optional, providerEndpoint } from '../endpoint.ts';
import { forms } from './params.ts';

const DAYS_DEFAULT = 30;
/** Days of a page. */
const PIECE_DAYS = 31;
/** The most bytes of a day in an answer. */
const DAY_BYTES_MAX = 512;

const countOf = (figure: Figure) =>
  Type.Integer({
    minimum: 0,
    description: `The number of ${FIGURE_MEANINGS[figure]}.`,
    examples: [0],
  });

const counts = Object.fromEntries(
  FIGURES.map((figure): [Figure, TInteger] => [figure, countOf(figure)]),
);

const DayFigures = Type.Object(
  {
    day: Type.String({
      pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
      description: 'The UTC day.',
      examples: ['2026-11-20'],
    }),
    ...counts,
  },
  { title: 'DayFigures' },
);

const statsEndpoint = providerEndpoint({
  method: 'GET',
  path: '/api/stats',
  repeat: 'reads',
  needs: 'read',
  summary: 'Figures by day',
  description:
    'An extension of the public contract: the figures of the provider on each of the last UTC days, the oldest first and today last, days without events included. Figures of the last ten seconds may be missing.',
  params: {
    days: optional(forms.statsDays, {
      misfit: 'unknown_error',
      about: `How many days, today included; ${DAYS_DEFAULT} when omitted.`,
    }),
  },
  fields: { ok: { data: Type.Array(DayFigures, { maxItems: FIGURE_DAYS }) } },
  says: ['ok', 'unknown_error'],
  handle({ core, provider, params, nowMs }) {
    const countMax = params.days ?? DAYS_DEFAULT;
    const { fromDay } = lastDays(countMax, nowMs);
    const list: RowList = {
      countMax,
      isOne: false,
      pageCount: PIECE_DAYS,
      bytesMax: countMax * DAY_BYTES_MAX,
      read: (last, count) => {
        const day = last === null ? fromDay : utcDay(Date.parse((last as Day).day)) + 1;
        return listFigures(core, provider.id, day, day + count - 1);
      },
    };
    return { says: 'ok', list };
  },
});

export const statsEndpoints = [statsEndpoint];
