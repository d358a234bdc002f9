/** Schemas and parameters that several endpoints share. */

import { type TInteger, type TSchema, Type } from '@sinclair/typebox';
import {
  BUTTON_URL,
  BUTTON_URL_LENGTH_MAX,
  COOL_DOWN_HOURS,
  DOMAIN_HASH,
  ENFORCE,
  HWID,
  IDEMPOTENCY_KEY,
  INACTIVE_DAYS,
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
  SAME_PHONE,
  STATS_DAYS,
  SUBSCRIPTION_KEY,
  SUBSCRIPTION_KEY_LENGTH_MAX,
  type TextFormat,
  WHEN_FULL,
  type WholeFormat,
  WITHOUT_HWID,
} from '../../core/formats.ts';
import type { Buttons } from '../../core/port/ride.ts';
import type { OwnPolicy } from '../../core/port/slot.ts';
import { optional, required, type Values } from '../endpoint.ts';
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

const wholeOrDefault = ({ minimum, maximum, rule }: WholeFormat) => ({
  schema: Type.Union([Type.Integer({ minimum, maximum }), Type.Literal(DEFAULT)]),
  rule: `${rule}, or ${DEFAULT}`,
});

/** TypeBox counts UTF-16 units in `maxLength`, JSON Schema and {@link ONE_LINE} code points. */
const LENGTH = { maxLength: ONE_LINE_LENGTH_MAX };

export const forms = {
  id: ofWhole(RECORD_ID),
  installLimit: ofWhole(INSTALL_LIMIT),
  installStatus: { schema: choice(INSTALL_STATUS.values), rule: INSTALL_STATUS.rule },
  newInstallCode: ofText(NEW_INSTALL_CODE),
  installCode: ofText(INSTALL_CODE),
  linkSearch: ofText(LINK_SEARCH, { maxLength: 64, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$' }),
  note: ofText(NOTE, LENGTH),
  domainName: ofText(ONE_LINE, { ...LENGTH, pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]*$' }),
  domainHash: ofText(DOMAIN_HASH),
  hwid: ofText(HWID),
  idempotencyKey: ofText(IDEMPOTENCY_KEY),
  statsDays: ofWhole(STATS_DAYS),
  inactiveDays: wholeOrDefault(INACTIVE_DAYS),
  whenFull: {
    schema: choice([...WHEN_FULL.values, DEFAULT]),
    rule: `one of ${WHEN_FULL.values.join(', ')} and ${DEFAULT}`,
  },
  coolDownHours: wholeOrDefault(COOL_DOWN_HOURS),
  enforce: {
    schema: choice([...ENFORCE.values, DEFAULT]),
    rule: `one of ${ENFORCE.values.join(', ')} and ${DEFAULT}`,
  },
  withoutHwid: {
    schema: choice([...WITHOUT_HWID.values, DEFAULT]),
    rule: `one of ${WITHOUT_HWID.values.join(', ')} and ${DEFAULT}`,
  },
  samePhone: {
    schema: choice([...SAME_PHONE.values, DEFAULT]),
    rule: `one of ${SAME_PHONE.values.join(', ')} and ${DEFAULT}`,
  },
  buttonUrl: {
    schema: Type.RegExp(new RegExp(`^${DEFAULT}$|${BUTTON_URL.pattern.source}`), {
      documented: {
        maxLength: BUTTON_URL_LENGTH_MAX,
        pattern: '^(default$|[Hh][Tt][Tt][Pp][Ss]?://|tg://)',
      },
    }),
    rule: `${BUTTON_URL.rule}, or ${DEFAULT}`,
  },
  /** `default` has the form of a key but means none. */
  subscriptionKey: ofText(SUBSCRIPTION_KEY, {
    minLength: 1,
    maxLength: SUBSCRIPTION_KEY_LENGTH_MAX,
    // The ASCII characters of the rule, and all other characters; or a user of a panel.
    pattern: '^(?:[^\\x00-\\x20/\\x5c\\x7f]*|(?:marzban|pasarguard(?:/name)?)/[0-9A-Z_a-z@.-]+)$',
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

/** The parts of a policy that extend the contract; `default` stands for the policy of `above`. */
export const policyParams = <const K extends MessageKey>(misfit: K, above = 'the provider') => ({
  inactive_days: optional(forms.inactiveDays, {
    misfit,
    about: `Days after which a new device may take a slot that was not seen, if none is free; 0 is never. \`default\` is that of ${above}.`,
  }),
  when_full: optional(forms.whenFull, {
    misfit,
    about: `How a full link answers a new device: \`refuse\` it, or give it the slot that was not seen for longest. \`default\` is that of ${above}.`,
  }),
  cool_down_hours: optional(forms.coolDownHours, {
    misfit,
    about: `Hours that must pass from one such replacement on the link to the next. \`default\` is that of ${above}.`,
  }),
  enforce: optional(forms.enforce, {
    misfit,
    about: `0: a full link only counts, and admits devices over its limit, 100 at most. From the answer to 1 it refuses new ones, and those that have a slot keep it. \`default\` is that of ${above}.`,
  }),
  without_hwid: optional(forms.withoutHwid, {
    misfit,
    about: `How the gate answers an app that sends no HWID: \`refuse\` it, let it \`pass\` without a slot, or \`count\` all such apps as one device. \`default\` is that of ${above}.`,
  }),
  same_phone: optional(forms.samePhone, {
    misfit,
    about: `What a full link does with a new device of the same model, system and app as a device that was silent for a week: \`replace\` that one, once in \`cool_down_hours\`, or refuse it and \`ask\` you, in the event and in \`list-refused\`. \`default\` is that of ${above}.`,
  }),
});

/** The buttons that apps show beside a subscription; `above` names the origin of the defaults. */
export const buttonParams = <const K extends MessageKey>(misfit: K, above: string) => ({
  support_url: optional(forms.buttonUrl, {
    misfit,
    about: `The address of the button for support in apps that have one. \`default\` is ${above}.`,
  }),
  web_page_url: optional(forms.buttonUrl, {
    misfit,
    about: `The address of the button for the provider's page, likewise.`,
  }),
});

/** Returns the buttons of a call; `default` removes the link's or provider's own. */
export function buttonsIn(params: Values<ReturnType<typeof buttonParams>>): Partial<Buttons> {
  const { support_url, web_page_url } = params;
  // A shortcut, as below.
  if ((support_url ?? web_page_url) === null) return {};
  return {
    ...(support_url !== null && { supportUrl: own(support_url) }),
    ...(web_page_url !== null && { webPageUrl: own(web_page_url) }),
  };
}

/** Returns the parts of a policy in a call; `default` removes the own value. */
export function policyIn(params: Values<ReturnType<typeof policyParams>>): Partial<OwnPolicy> {
  const { cool_down_hours, enforce, inactive_days, when_full, without_hwid, same_phone } = params;
  // A shortcut: most calls give none.
  const first = cool_down_hours ?? inactive_days ?? when_full;
  if ((first ?? enforce ?? without_hwid ?? same_phone) === null) return {};
  return {
    ...(inactive_days !== null && { inactiveDays: own(inactive_days) }),
    ...(when_full !== null && { whenFull: own(when_full) }),
    ...(cool_down_hours !== null && { coolDownHours: own(cool_down_hours) }),
    ...(enforce !== null && { enforce: own(enforce) }),
    ...(without_hwid !== null && { withoutHwid: own(without_hwid) }),
    ...(same_phone !== null && { samePhone: own(same_phone) }),
  };
}

/** Returns null for `default`, else the value. */
export const own = <T>(value: T | typeof DEFAULT): T | null => (value === DEFAULT ? null : value);

/** Terms of a link that extend the contract. */
export const termParams = <const K extends MessageKey>(misfit: K) => ({
  ...policyParams(misfit),
  ...buttonParams(misfit, "the provider's"),
  subscription_key: optional(forms.subscriptionKey, {
    misfit,
    about:
      'The key of the subscription at a panel, by which the gate finds the link; `default` is none. Stored as its SHA-256 alone; no other link of the provider may have it.',
  }),
});

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
