const rules = new Intl.PluralRules('ru');

export function count(n: number, one: string, few: string, many: string): string {
  const form = rules.select(n);
  return `${n} ${form === 'one' ? one : form === 'few' ? few : many}`;
}
