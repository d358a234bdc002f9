/** Numbers with their nouns. */

/**
 * Returns `1 link`, `2 links`. `shown`: the number as a language writes it.
 *
 * @example counted(2, 'device') // '2 devices'
 */
export function counted(
  count: number,
  one: string,
  other = `${one}s`,
  shown = String(count),
): string {
  return `${shown} ${count === 1 ? one : other}`;
}
