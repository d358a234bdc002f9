/** Sizes in the language of the page. */

import { texts } from '../state.ts';

/** Returns a size in the largest unit that fits. */
export function bytes(value: number | null): string {
  if (value === null) return texts.machine.unknown;
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return new Intl.NumberFormat(texts.tag, {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: 'short',
    maximumFractionDigits: 1,
  }).format(value / 1_000 ** power);
}
