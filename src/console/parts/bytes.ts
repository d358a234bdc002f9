/** Sizes in the language of the page. */

import { texts } from '../state.ts';

/** Returns a size in the largest unit that fits. */
export const bytes = (value: number | null): string =>
  value === null ? texts.machine.unknown : sized(value, 1_000);

/** Returns traffic as panels and apps write it, with units of 1,024. */
export const traffic = (value: number): string => sized(value, 1_024);

function sized(value: number, step: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(
    units.length - 1,
    Math.floor(Math.log(Math.max(1, value)) / Math.log(step)),
  );
  return new Intl.NumberFormat(texts.tag, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(value / step ** power);
}
