/**
 * Parameters of the fields in core/terms.ts and core/webhook-fields.ts, their documents and their
 * values in answers.
 */

import { type TSchema, Type } from '@sinclair/typebox';
import { type Fields, type OutsideName, rowsOf } from '../../core/field.ts';
import {
  BUTTON_URL,
  BUTTON_URL_LENGTH_MAX,
  type ChoiceFormat,
  DAY_TIME,
  GREETING,
  GREETING_LENGTH_MAX,
  type ListFormat,
  PAGE_COLOR,
  PAGE_NAME,
  PROVIDER_KINDS,
  type TextFormat,
  TIME_ZONE,
  type WholeFormat,
} from '../../core/formats.ts';
import type { LinkTerms } from '../../core/port/link.ts';
import type { OwnTerms } from '../../core/port/provider.ts';
import type { WebhookSettings } from '../../core/webhook-fields.ts';
import { explained } from '../../labels/en.ts';
import { optional, type Param } from '../endpoint.ts';
import type { MessageKey } from '../messages.ts';
import { choice, DEFAULT, oneOf, orNull } from './params.ts';

/** Documents of texts, and examples, where a pattern says too little. */
const DOCUMENTED = new Map<unknown, object>([
  [
    BUTTON_URL,
    {
      maxLength: BUTTON_URL_LENGTH_MAX,
      pattern: '^(default$|[Hh][Tt][Tt][Pp][Ss]?://|tg://)',
    },
  ],
  [PAGE_NAME, { minLength: 1, maxLength: 64 }],
  [GREETING, { minLength: 1, maxLength: GREETING_LENGTH_MAX }],
]);
const EXAMPLES = new Map<unknown, string>([
  [BUTTON_URL, 'https://example.com/support'],
  [PAGE_NAME, 'Northwind'],
  [GREETING, 'Anna'],
  [PAGE_COLOR, '#0f766e'],
  [DAY_TIME, '22:00'],
  [TIME_ZONE, '+03:00'],
  [PROVIDER_KINDS, 'link.full,device.admitted'],
]);

type AnyFormat = ListFormat | ChoiceFormat | WholeFormat | TextFormat;

/** The rows of a table as this file reads them. */
const rowsIn = (table: object) =>
  rowsOf<Record<string, unknown>>(table as Fields<Record<string, unknown>>).map((row) => ({
    none: DEFAULT as string,
    ...row,
    format: row.format as unknown as AnyFormat,
  }));
type Row = ReturnType<typeof rowsIn>[number];

/** Returns the values of a choice; a word stands for null. */
function wordsOf({ values }: ChoiceFormat, { none, usual }: Row) {
  if (usual !== null) return values;
  return none === DEFAULT ? [...values, none] : [none, ...values];
}

/** Returns the form of a parameter; `default` stands for null, unless the row has another word. */
function formOf(row: Row): Pick<Param, 'schema' | 'rule' | 'tidy'> {
  const { format, usual } = row;
  if ('words' in format) {
    const { none, words } = format;
    return { schema: Type.String(), rule: `${none}, or between commas: ${words.join(', ')}` };
  }
  if ('values' in format) {
    const words = wordsOf(format, row);
    if (typeof usual === 'string') return oneOf(words.map(String));
    const rule = `one of ${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
    return { schema: choice(words), rule: usual === null ? rule : format.rule };
  }
  const rule = `${format.rule}, or ${DEFAULT}`;
  if ('minimum' in format) {
    const { minimum, maximum } = format;
    const schema = Type.Union([Type.Integer({ minimum, maximum }), Type.Literal(DEFAULT)]);
    return { schema, rule };
  }
  const { tidy } = format;
  const { source, flags } = format.pattern;
  const documented = DOCUMENTED.get(format);
  const pattern = new RegExp(`^${DEFAULT}$|${source}`, flags);
  return {
    schema: Type.RegExp(pattern, { ...(documented && { documented }) }),
    rule,
    ...(tidy && { tidy }),
  };
}

type Params<Table, K extends MessageKey> = {
  [F in keyof Table as OutsideName<Table, F>]: Param<TSchema, false, K>;
};

/** Returns the word for what a new record has without the parameter; null: it has none. */
const omittedOf = ({ format, usual }: Row) =>
  'words' in format ? format.none : typeof usual === 'string' ? usual : null;

/**
 * Makes the parameters of a table's fields; `above` says what the default of a field is. With
 * `isNew` they tell what holds without them.
 */
export function paramsOf<
  Table extends Partial<Fields<LinkTerms & OwnTerms & WebhookSettings>>,
  const K extends MessageKey,
>(table: Table, misfit: K, above: (field: string) => string, isNew = false): Params<Table, K> {
  const params = rowsIn(table).map((row) => {
    const { field, name, none, usual } = row;
    const ending = usual === null && none === DEFAULT ? ` \`${DEFAULT}\` is ${above(field)}.` : '';
    const omitted = isNew ? omittedOf(row) : null;
    const { about } = explained[field as keyof typeof explained];
    const example = 'words' in row.format ? EXAMPLES.get(row.format) : undefined;
    return [
      name,
      optional(formOf(row), {
        misfit,
        about: `${about}${omitted === null ? '' : ` \`${omitted}\` when omitted.`}${ending}`,
        ...(example !== undefined && { example }),
      }),
    ];
  });
  return Object.fromEntries(params) as Params<Table, K>;
}

type Given<Table> = { readonly [F in keyof Table as OutsideName<Table, F>]: unknown };

/** Makes the reader of the terms in a call; the word for null removes the own value. */
export function termsReader<Table extends object>(table: Table) {
  const rows = rowsIn(table);
  return <Own>(params: Given<Table>): Partial<Own> => {
    const own: Record<string, unknown> = {};
    for (const { field, name, none } of rows) {
      const value = params[name as never] as unknown;
      if (value !== null) own[field] = value === none ? null : value;
    }
    return own as Partial<Own>;
  };
}

/** Returns the schemas of a table's fields in an answer. */
export const schemasOf = <Table extends object>(table: Table) =>
  Object.fromEntries(
    rowsIn(table).map((row) => {
      const { format, name, usual } = row;
      if ('words' in format) return [name, Type.Array(choice<string>(format.words))];
      if ('values' in format) return [name, choice(wordsOf(format, row))];
      const examples = [EXAMPLES.get(format) ?? usual];
      const schema =
        'minimum' in format
          ? Type.Integer({ minimum: format.minimum, maximum: format.maximum, examples })
          : Type.String({ examples });
      return [name, usual === null ? orNull(schema) : schema];
    }),
  ) as { [F in keyof Table as OutsideName<Table, F>]: TSchema };

/** Returns the values of a table's fields in an answer; a choice has its word for null. */
export const valuesOf = <Own extends object>(table: Fields<Own>, own: Own) =>
  Object.fromEntries(
    rowsIn(table).map(({ field, format, name, none }) => [
      name,
      own[field as keyof Own] ?? ('values' in format ? none : null),
    ]),
  );
