/** Parameters of the fields in core/terms.ts, their documents and their values in answers. */

import { type TSchema, Type } from '@sinclair/typebox';
import { type Fields, type OutsideName, rowsOf } from '../../core/field.ts';
import {
  BUTTON_URL,
  BUTTON_URL_LENGTH_MAX,
  type ChoiceFormat,
  PAGE_COLOR,
  PAGE_NAME,
  type TextFormat,
  type WholeFormat,
} from '../../core/formats.ts';
import type { LinkTerms } from '../../core/port/install.ts';
import type { OwnTerms } from '../../core/port/provider.ts';
import { optional, type Param } from '../endpoint.ts';
import type { MessageKey } from '../messages.ts';
import { choice, DEFAULT, orNull } from './params.ts';

/** The purpose of each parameter; the sentence about its default follows. */
const ABOUT: Readonly<Record<keyof LinkTerms | keyof OwnTerms, string>> = {
  inactiveDays:
    'Days after which a new device may take a slot that was not seen, if none is free; 0 is never.',
  whenFull:
    'How a full link answers a new device: `refuse` it, or give it the slot that was not seen for longest.',
  coolDownHours: 'Hours that must pass from one such replacement on the link to the next.',
  enforce:
    '0: a full link only counts, and admits devices over its limit, 100 at most. From the answer to 1 it refuses new ones, and those that have a slot keep it.',
  withoutHwid:
    'How the gate answers an app that sends no HWID: `refuse` it, let it `pass` without a slot, or `count` all such apps as one device.',
  samePhone:
    'What a full link does with a new device of the same model, system and app as a device that was silent for a week: `replace` that one, once in `cool_down_hours`, or refuse it and `ask` you, in the event and in `list-refused`.',
  supportUrl: 'The address of the button for support in apps that have one.',
  webPageUrl: "The address of the button for the provider's page, likewise.",
  ride: 'The most of the messages that rides on subscriptions, in the headers that apps read: `off`, or `notifications` and no commands.',
  rideDesktop:
    '1: general notifications ride to other systems than iOS and Android too, whatever their `os`.',
  buttons: 'Whether the buttons stand only where the panel sends none (`missing`), or `always`.',
  my: '1: each link has a page where its user sees its devices and frees them.',
  myName: 'The name on that page.',
  myColor: 'The colour of that page.',
};

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
]);
const EXAMPLES = new Map<unknown, string>([
  [BUTTON_URL, 'https://example.com/support'],
  [PAGE_NAME, 'Northwind'],
  [PAGE_COLOR, '#0f766e'],
]);

type AnyFormat = ChoiceFormat | WholeFormat | TextFormat;

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
function formOf(row: Row): { schema: TSchema; rule: string } {
  const { format, usual } = row;
  if ('values' in format) {
    const words = wordsOf(format, row);
    const rule = `one of ${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
    return { schema: choice(words), rule: usual === null ? rule : format.rule };
  }
  const rule = `${format.rule}, or ${DEFAULT}`;
  if ('minimum' in format) {
    const { minimum, maximum } = format;
    const schema = Type.Union([Type.Integer({ minimum, maximum }), Type.Literal(DEFAULT)]);
    return { schema, rule };
  }
  const { source, flags } = format.pattern;
  const documented = DOCUMENTED.get(format);
  const pattern = new RegExp(`^${DEFAULT}$|${source}`, flags);
  return { schema: Type.RegExp(pattern, { ...(documented && { documented }) }), rule };
}

type Params<Table, K extends MessageKey> = {
  [F in keyof Table as OutsideName<Table, F>]: Param<TSchema, false, K>;
};

/** Makes the parameters of a table's fields; `above` says what the default of a field is. */
export function paramsOf<
  Table extends Partial<Fields<LinkTerms & OwnTerms>>,
  const K extends MessageKey,
>(table: Table, misfit: K, above: (field: string) => string): Params<Table, K> {
  const params = rowsIn(table).map((row) => {
    const { field, name, none, usual } = row;
    const ending = usual === null && none === DEFAULT ? ` \`${DEFAULT}\` is ${above(field)}.` : '';
    const about = ABOUT[field as keyof typeof ABOUT] + ending;
    return [name, optional(formOf(row), { misfit, about })];
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
export const schemasOf = (table: object) =>
  Object.fromEntries(
    rowsIn(table).map((row) => {
      const { format, name, usual } = row;
      if ('values' in format) return [name, choice(wordsOf(format, row))];
      const examples = [EXAMPLES.get(format) ?? usual];
      const schema =
        'minimum' in format
          ? Type.Integer({ minimum: format.minimum, maximum: format.maximum, examples })
          : Type.String({ examples });
      return [name, usual === null ? orNull(schema) : schema];
    }),
  );

/** Returns the values of a table's fields in an answer; a choice has its word for null. */
export const valuesOf = <Own extends object>(table: Fields<Own>, own: Own) =>
  Object.fromEntries(
    rowsIn(table).map(({ field, format, name, none }) => [
      name,
      own[field as keyof Own] ?? ('values' in format ? none : null),
    ]),
  );
