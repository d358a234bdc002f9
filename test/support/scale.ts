/**
 * How long a test runs that may run for any time: kills, races, models. `make test` runs the short
 * form, `make test-long` (`TEST_LONG=1`) the long one.
 */

export const IS_LONG = process.env['TEST_LONG'] === '1';

/**
 * Returns the size of a test: the value of its own environment variable, else by `TEST_LONG`.
 *
 * @example `const KILLS = scaleOf('CRASH_KILLS', { short: 8, long: 200 });`
 */
export function scaleOf(variable: string, size: { short: number; long: number }): number {
  return Number(process.env[variable] ?? (IS_LONG ? size.long : size.short));
}

/** Returns whether the operator asked for this size: such a run prints its figures. */
export const isAskedFor = (variable: string): boolean =>
  IS_LONG || process.env[variable] !== undefined;
