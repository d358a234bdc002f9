/** Figures of subscriptions on the command line: options of filters, and how figures are shown. */

import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError, UsageError } from '../base/operator-error.ts';
import {
  FIGURES_DAYS,
  type FiguresWish,
  figuresFilterOf,
  figuresNotKept,
  readFiguresWish,
  TRAFFIC_PERCENT,
} from '../core/figures-filter.ts';
import type { Format } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { Provider } from '../core/port/provider.ts';
import type { FiguresFilter, ShownFigures } from '../core/port/subscription-figures.ts';
import { showBytes, showTime, showTimeOrNull } from './values.ts';

export interface FiguresOptions {
  /** Days. */
  endsIn?: number;
  ended?: boolean;
  /** Per cent. */
  trafficOver?: number;
  /** Days. */
  unread?: number;
}

/** Makes the reader of a number with a sign behind it, which may be left out. */
const numberReader =
  ({ read, rule }: Format<number>, sign: RegExp, example: string) =>
  (text: string): number => {
    const value = read(text.replace(sign, ''));
    if (isRefused(value)) throw new InvalidArgumentError(`it is ${rule}, such as ${example}`);
    return value as number;
  };
const days = numberReader(FIGURES_DAYS, /d$/, '3d');
const percent = numberReader(TRAFFIC_PERCENT, /%$/, '90');

/** Adds the options of a filter; `what`: what it chooses, such as `only links`. */
export const addFigures = (command: Command, what: string): Command =>
  command
    .option('--ends-in <days>', `${what} whose subscription ends within so many days`, days)
    .option('--ended', `${what} whose subscription has ended`)
    .option(
      '--traffic-over <percent>',
      `${what} that used at least so much of their traffic`,
      percent,
    )
    .option(
      '--unread <days>',
      `${what} that are older, and whose figures were not read for so many days`,
      days,
    );

/** Returns the conditions of the options by their names in the API. */
export const figuresFields = ({ ended, endsIn, trafficOver, unread }: FiguresOptions) => ({
  ...(endsIn !== undefined && { ends_in_days: endsIn }),
  ...(ended && { ended: 1 }),
  ...(trafficOver !== undefined && { traffic_over: trafficOver }),
  ...(unread !== undefined && { unread_days: unread }),
});

/** Returns the conditions of the options; null: there are none. Throws {@link UsageError}. */
export function wishOf(options: FiguresOptions): FiguresWish | null {
  const wish = readFiguresWish(figuresFields(options));
  if (isRefused(wish)) throw new UsageError('--ends-in and --ended exclude each other');
  return wish;
}

/**
 * Returns the filter of the options for some providers. Throws {@link OperatorError} where none of
 * them has figures: the filter would find nothing, whatever the subscriptions are.
 */
export async function figuresOf(
  options: FiguresOptions,
  providers: () => Promise<readonly Provider[]>,
  nowMs: number,
): Promise<FiguresFilter> {
  const wish = wishOf(options);
  if (wish === null) return {};
  const isKept = (await providers()).some((provider) => figuresNotKept(provider) === null);
  if (isKept) return figuresFilterOf(wish, nowMs);
  throw new OperatorError(
    'no figures of subscriptions are kept: switch them on with gatepost provider set --subscription-figures on',
  );
}

/** Returns figures as JSON, with the names of the API. */
export const figuresView = (figures: ShownFigures | null) =>
  figures && {
    ends_at: showTimeOrNull(figures.endsAtMs),
    total_bytes: figures.totalBytes,
    used_bytes: figures.usedBytes,
    read_at: showTime(figures.readAtMs),
  };

/** Returns the traffic of figures in words, such as `1.5 GiB of 50.0 GiB`. */
export function trafficText({ totalBytes, usedBytes }: ShownFigures): string {
  const used = usedBytes === null ? '?' : showBytes(usedBytes);
  return totalBytes === null ? used : `${used} of ${showBytes(totalBytes)}`;
}

/** Returns figures as lines of a sheet. */
export const figuresSheet = (figures: ShownFigures | null) =>
  figures === null
    ? {}
    : {
        subscription_ends_at: showTimeOrNull(figures.endsAtMs),
        traffic: trafficText(figures),
        figures_read_at: showTime(figures.readAtMs),
      };
