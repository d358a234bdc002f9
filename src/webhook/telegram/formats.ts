/** Writes numbers, sizes and times in a language. */

import type { Words } from './en.ts';

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** The formatters of one language. Constructing them takes half a millisecond: keep them. */
export class Formats {
  readonly #number: Intl.NumberFormat;
  readonly #percent: Intl.NumberFormat;
  readonly #instant: Intl.DateTimeFormat;
  readonly #days: Intl.NumberFormat;
  readonly #sizes: readonly Intl.NumberFormat[];

  constructor({ tag, unitDisplay }: Pick<Words, 'tag' | 'unitDisplay'>) {
    const unit = (name: string, display: 'short' | 'long') => {
      const of = { style: 'unit', unit: name, unitDisplay: display } as const;
      return new Intl.NumberFormat(tag, { ...of, maximumFractionDigits: 1 });
    };
    this.#number = new Intl.NumberFormat(tag);
    this.#percent = new Intl.NumberFormat(tag, { style: 'percent' });
    this.#instant = new Intl.DateTimeFormat(tag, {
      ...({ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const),
      hourCycle: 'h23',
    });
    this.#days = unit('day', 'long');
    this.#sizes = UNITS.map((name) => unit(name, unitDisplay));
  }

  number(value: number): string {
    return this.#number.format(value);
  }

  percent(value: number): string {
    return this.#percent.format(value / 100);
  }

  days(value: number): string {
    return this.#days.format(value);
  }

  /** Writes a size in units of `base`. */
  bytes(value: number, base: 1000 | 1024 = 1000): string {
    let at = 0;
    while (at < UNITS.length - 1 && value >= base ** (at + 1)) at += 1;
    return this.#sizes[at]?.format(value / base ** at) ?? '';
  }

  /** Writes a time of UTC, without the name of the zone. */
  instant(epochMs: number): string {
    return this.#instant.format(epochMs);
  }
}
