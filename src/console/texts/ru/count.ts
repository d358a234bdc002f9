const rules = new Intl.PluralRules('ru');
const format = new Intl.NumberFormat('ru');

export function count(n: number, one: string, few: string, many: string): string {
  const form = rules.select(n);
  return `${format.format(n)} ${form === 'one' ? one : form === 'few' ? few : many}`;
}
