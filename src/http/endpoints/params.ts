/** Schemas and parameters that several endpoints share. */

import { type TInteger, type TSchema, Type } from '@sinclair/typebox';
import { FIGURES_DAYS, TRAFFIC_PERCENT } from '../../core/figures-filter.ts';
import {
  CHOSEN_CODE,
  DOMAIN_HASH,
  HWID,
  IDEMPOTENCY_KEY,
  INSTALL_CODE,
  INSTALL_LIMIT,
  INSTALL_STATUS,
  KEEP_OLD_HOURS,
  LINK_SEARCH,
  NEW_INSTALL_CODE,
  NOTE,
  ONE_LINE,
  ONE_LINE_LENGTH_MAX,
  RECORD_ID,
  STATS_DAYS,
  type TextFormat,
  type WholeFormat,
} from '../../core/formats.ts';
import {
  PANEL_USER,
  SUBSCRIPTION_KEY,
  SUBSCRIPTION_KEY_LENGTH_MAX,
} from '../../core/subscription-key.ts';
import { optional, required } from '../endpoint.ts';
import type { MessageKey } from '../messages.ts';

/** Returns the form of a text; `documented` replaces a pattern that few languages can read. */
const ofText = ({ pattern, rule, tidy }: TextFormat, documented?: object) => ({
  schema: Type.RegExp(pattern, { ...(documented && { documented }) }),
  rule,
  ...(tidy && { tidy }),
});

const ofWhole = ({ minimum, maximum, rule }: WholeFormat) => ({
  schema: Type.Integer({ minimum, maximum }),
  rule,
});

/** The value that removes a link's own term. */
export const DEFAULT = 'default' as const;

/** Returns the schema of one of some values, strings or numbers. */
export const choice = <const T extends string | number>(
  values: readonly T[],
  description?: string,
) =>
  Type.Union(
    values.map((value) => Type.Literal(value)),
    { ...(description && { description }) },
  );

/** TypeBox counts UTF-16 units in `maxLength`, JSON Schema and {@link ONE_LINE} code points. */
const LENGTH = { maxLength: ONE_LINE_LENGTH_MAX };

export const forms = {
  id: ofWhole(RECORD_ID),
  installLimit: ofWhole(INSTALL_LIMIT),
  installStatus: { schema: choice(INSTALL_STATUS.values), rule: INSTALL_STATUS.rule },
  newInstallCode: ofText(NEW_INSTALL_CODE),
  chosenCode: ofText(CHOSEN_CODE),
  installCode: ofText(INSTALL_CODE),
  linkSearch: ofText(LINK_SEARCH, { maxLength: 64, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$' }),
  note: ofText(NOTE, LENGTH),
  domainName: ofText(ONE_LINE, { ...LENGTH, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$' }),
  domainHash: ofText(DOMAIN_HASH),
  hwid: ofText(HWID),
  idempotencyKey: ofText(IDEMPOTENCY_KEY),
  statsDays: ofWhole(STATS_DAYS),
  figuresDays: ofWhole(FIGURES_DAYS),
  trafficPercent: ofWhole(TRAFFIC_PERCENT),
  /** `default` has the form of a key but means none. */
  subscriptionKey: ofText(SUBSCRIPTION_KEY, {
    minLength: 1,
    maxLength: SUBSCRIPTION_KEY_LENGTH_MAX,
    // The ASCII characters of the rule, and all other characters; or a user of a panel.
    pattern: `^(?:[^\\x00-\\x20/\\x5c\\x7f]*|${PANEL_USER.replaceAll('\\w', '0-9A-Z_a-z')})$`,
  }),
  keepOldHours: ofWhole(KEEP_OLD_HOURS),
  flag: { schema: choice([0, 1]), rule: '0 or 1' },
};

/** Returns the form of one of a few words. */
export const oneOf = <const T extends string>(values: readonly T[]) => ({
  schema: choice(values),
  rule: `one of ${values.join(', ')}`,
});

/** Returns the form of a text that the core checks. */
export const anyText = (rule: string) => ({ schema: Type.String(), rule });

/** Values of the documents' examples. */
export const CODE_EXAMPLE = 'FIRSTLINK001';
export const HWID_EXAMPLE = 'my-first-phone';
export const PROVIDER_EXAMPLE = 'EXAMPLE1';
/** SHA-256 of example.com. */
export const HASH_EXAMPLE = 'a379a6f6eeafb9a55e378c118034e2751e682fab9f2d30ab13d2125586ce1947';

/** Parameters of every list. `before_id`, which continues a list, is an extension. */
export const pageParams = {
  id: optional(forms.id, { misfit: 'unknown_error', about: 'Only this record.' }),
  before_id: optional(forms.id, {
    misfit: 'unknown_error',
    about: 'Only records with a lower `id`: continues a list.',
  }),
};

/** The webhook of a call. */
export const webhookIdParam = required(forms.id, { misfit: 'webhook_not_found', example: 1 });

/** Returns null for `default`, else the value. */
export const own = <T>(value: T | typeof DEFAULT): T | null => (value === DEFAULT ? null : value);

/** The selectors of a link in list-hwid and delete-hwid; `says` is the answer without both. */
export const selectorParams = <const K extends MessageKey>(says: K) => ({
  install_code: optional(forms.installCode, {
    misfit: 'install_code_error',
    about: 'The code of the link: this or `install_id` is needed.',
    example: CODE_EXAMPLE,
  }),
  install_id: optional<TInteger, K | 'install_code_error'>(forms.id, {
    misfit: 'install_code_error',
    about: 'The id of the link: this or `install_code` is needed.',
    neededWithout: { other: 'install_code', says },
  }),
});

/** A time in an answer. */
export const WireTime = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$',
  description: '`YYYY-MM-DD HH:MM:SS` in UTC+3, unless the operator set another zone.',
  examples: ['2026-11-20 15:00:00'],
});

/** Returns the schema of a value that may be null. */
export const orNull = <S extends TSchema>(schema: S) =>
  Type.Union([schema, Type.Null()], { examples: schema['examples'] ?? [null] });

/** The number of HWIDs on a link in an answer. */
export const CountField = Type.Integer({
  minimum: 0,
  description: 'The number of HWIDs on the link, always exact.',
  examples: [1],
});

/** The cap of a link in an answer. */
export const LimitField = Type.Integer({
  minimum: INSTALL_LIMIT.minimum,
  maximum: INSTALL_LIMIT.maximum,
  examples: [3],
});

/** The id of a record in an answer. */
export const RecordId = Type.Integer({ minimum: 1, examples: [1] });

/** Returns the schema of a status with the names of its values. */
export const statusOf = (names: Readonly<Record<number, string>>) => {
  const named = Object.entries(names).map(([status, name]) => `${status} ${name}`);
  return choice(Object.keys(names).map(Number), `${named.join(', ')}.`);
};

/** Returns the schema of a string with its meaning and an example. */
export const text = (description: string, example: string) =>
  Type.String({ description, examples: [example] });
