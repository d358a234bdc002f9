/**
 * Options of commands for the fields of core/terms.ts and core/webhook-fields.ts, and their output.
 * An omitted option changes nothing; `default`, or `none` for a text, removes a value of its own.
 */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Fields, rowsOf } from '../core/field.ts';
import type { ChoiceFormat, Format, ListFormat } from '../core/formats.ts';
import { isRefused } from '../core/outcome.ts';
import type { LinkTerms } from '../core/port/link.ts';
import type { OwnMyCut } from '../core/port/my.ts';
import type { OwnTerms } from '../core/port/provider.ts';
import type { OwnPolicy } from '../core/port/slot.ts';
import { policyOf } from '../core/slot.ts';
import { POLICY_TERMS } from '../core/terms.ts';
import type { WebhookSettings } from '../core/webhook-fields.ts';
import { explained, labels } from '../labels/en.ts';

type Own = LinkTerms & OwnTerms & OwnMyCut & WebhookSettings;

/** The words of numbers. */
const WORDS: { readonly [F in keyof Own]?: Readonly<Record<string, number>> } = {
  enforce: { on: 1, off: 0 },
  rideDesktop: { yes: 1, no: 0 },
  my: { on: 1, off: 0 },
  myTraffic: { on: 1, off: 0 },
  myCutOff: { on: 1, off: 0 },
  shortCodes: { yes: 1, no: 0 },
  discovery: { on: 1, off: 0 },
  subscriptionFigures: { on: 1, off: 0 },
  figures: { on: 1, off: 0 },
};

/** The rows of a table as this file reads them; `option` is the name in the options of commands. */
const rowsIn = (table: object) =>
  rowsOf<Record<string, unknown>>(table as Fields<Record<string, unknown>>).map((row) => {
    const field = row.field as keyof Own;
    const { values } = row.format as Partial<ChoiceFormat>;
    const isList = 'words' in row.format;
    const none = 'pattern' in row.format ? 'none' : 'default';
    const words = WORDS[field];
    const flag = row.name.replaceAll('_', '-');
    const option = flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
    const omitted = isList ? (row.format as ListFormat).none : row.usual;
    return { none, ...row, field, values, isList, omitted, words, flag, option };
  });

const reader =
  ({ read, rule }: Format<unknown>, none: string) =>
  (text: string): unknown => {
    if (text === none) return text;
    const value = read(text);
    if (isRefused(value)) throw new InvalidArgumentError(`It is ${rule}, or ${none}.`);
    return value;
  };

/** Makes the reader of a list, which the core reads again by its owner. */
const listReader =
  (name: string, formats: readonly Format<unknown>[]) =>
  (text: string): string => {
    if (formats.some(({ read }) => !isRefused(read(text)))) return text;
    const rules = formats.map(({ rule }) => rule).join('; or ');
    throw new InvalidArgumentError(`${name} must be ${rules}`);
  };

/**
 * Adds the options of a table's fields; the core reads lists again. With `isNew` the help tells the
 * values of a record that is given none. `other` is the table of records of another owner, who is
 * not known yet: an option may fit either.
 */
export function addTerms(
  command: Command,
  table: object,
  { isNew = false, other = table } = {},
): Command {
  const others = new Map(rowsIn(other).map(({ field, format }) => [field, format]));
  for (const row of rowsIn(table)) {
    const { field, flag, format, isList, name, none, omitted, usual, values, words } = row;
    const formats = [...new Set([format, others.get(field) ?? format])];
    const [value, help] = explained[field].option;
    const label = labels[name as keyof typeof labels];
    const ending = isNew && typeof omitted === 'string' ? `; ${omitted} if omitted` : '';
    const option = new Option(`--${flag} <${value}>`, `${label}${help}${ending}`);
    const choices = words === undefined ? values : Object.keys(words);
    const all = [...(choices ?? []), ...(usual === null ? [none] : [])].map(String);
    if (choices !== undefined) option.choices(all);
    else option.argParser(isList ? listReader(name, formats) : reader(format, none));
    command.addOption(option);
  }
  return command;
}

/** Returns the terms that the options set, lists as texts. */
export function givenTerms<Own>(table: Fields<Own>, options: object): Partial<Own> {
  const own: Record<string, unknown> = {};
  for (const { field, none, option, words } of rowsIn(table)) {
    const value = (options as Record<string, unknown>)[option];
    if (value === undefined) continue;
    own[field] = value === none ? null : (words?.[value as string] ?? value);
  }
  return own as Partial<Own>;
}

/** Returns terms as JSON, with the values of the options; a text that is not set is null. */
export const termsView = <Own extends object>(table: Fields<Own>, own: Own) =>
  Object.fromEntries(
    rowsIn(table).map(({ field, name, none, values, words }) => {
      const value = own[field as keyof Own] as string | number | null;
      return [name, value === null && values ? none : wordOf(words, value)];
    }),
  );

const wordOf = (words: Readonly<Record<string, number>> = {}, value: string | number | null) =>
  Object.keys(words).find((word) => words[word] === value) ?? value;

/**
 * Returns an effective policy as text, with the origin of inherited values. For a link `above` is
 * the policy of its provider; for a provider it is empty.
 */
export function policySheet(own: OwnPolicy, above: OwnPolicy): Record<string, string> {
  const policy = policyOf(own, above);
  return Object.fromEntries(
    rowsIn(POLICY_TERMS).map(({ field, name, words }) => {
      const of = field as keyof OwnPolicy;
      const inherited = above[of] === null ? ' (default)' : ' (of the provider)';
      const value = of === 'inactiveDays' && policy[of] === 0 ? 'never' : policy[of];
      return [name, `${wordOf(words, value)}${own[of] === null ? inherited : ''}`];
    }),
  );
}
