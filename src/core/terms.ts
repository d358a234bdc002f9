/**
 * The fields of links and providers that can be set, one row each: what stores, files, calls,
 * options and the audit log know of them derives from here. The order is that of columns, files and
 * entries. The interfaces of core/port say what each field means.
 */

import { isoTime, TIME_MAX_MS } from './calendar.ts';
import { each, type Field, type Fields, fieldsOf } from './field.ts';
import {
  BUTTON_URL,
  BUTTONS,
  COOL_DOWN_HOURS,
  COPIED_HWID,
  DAY_TIME,
  DOMAIN_HASH,
  ENFORCE,
  FLAG,
  GREETING,
  INACTIVE_DAYS,
  INSTALL_LIMIT,
  INSTALL_STATUS,
  LINK_CAP,
  NOTE,
  PAGE_COLOR,
  PAGE_NAME,
  PLAN,
  PROVIDER_NAME,
  RC2_BODY,
  RIDE,
  SAME_PHONE,
  SAME_PHONE_HOURS,
  TIME_ZONE,
  WHEN_FULL,
  WHEN_NEW,
  WITHOUT_HWID,
  whole,
} from './formats.ts';
import type { LinkTerms, OwnLink } from './port/link.ts';
import type { OwnMy, OwnMyCut } from './port/my.ts';
import type { OwnBot, OwnTerms, ProviderTerms } from './port/provider.ts';
import type { OwnQuiet } from './port/reminder.ts';
import type { Buttons, OwnRideTerms } from './port/ride.ts';
import type { OwnPolicy, Policy } from './port/slot.ts';
import type { OwnFigures } from './port/subscription-figures.ts';

/**
 * A party that may set a field: the operator, on the command line and in the console; the provider,
 * by the API; the staff of a provider, in the console, by the rights of core/account/roles.ts.
 */
export type Party = 'operator' | 'provider' | 'staff';

interface Term<T> extends Field<T> {
  readonly may: readonly Party[];
  /** The word for null outside; absent: `default`. */
  readonly none?: string;
}

export type Terms<Own> = Fields<Own> & { readonly [F in keyof Own]-?: Term<Own[F]> };

const ALL: readonly Party[] = ['operator', 'provider', 'staff'];
const TERMS: readonly Party[] = ['operator', 'provider'];
const OPERATOR: readonly Party[] = ['operator'];

/** The policy; `usual` is what holds where neither link nor provider has a value of its own. */
export const POLICY_TERMS = {
  inactiveDays: { format: INACTIVE_DAYS, usual: 0 },
  whenFull: { format: WHEN_FULL, usual: 'refuse' },
  coolDownHours: { format: COOL_DOWN_HOURS, usual: 24 },
  enforce: { format: ENFORCE, usual: 1 },
  withoutHwid: { format: WITHOUT_HWID, usual: 'refuse' },
  samePhone: { format: SAME_PHONE, usual: 'off' },
  samePhoneHours: { format: SAME_PHONE_HOURS, usual: 168 },
  copiedHwid: { format: COPIED_HWID, usual: 'tell' },
  whenNew: { format: WHEN_NEW, usual: 'admit' },
} as const satisfies Fields<Policy>;

export const POLICY_FIELDS = fieldsOf(POLICY_TERMS);

/** The policy of a link's or a provider's own. */
export const OWN_POLICY_TERMS = each(POLICY_FIELDS, (field) => ({
  ...POLICY_TERMS[field],
  usual: null,
  may: TERMS,
})) as Terms<OwnPolicy>;

/** The buttons of a link or provider. */
export const BUTTON_TERMS = {
  supportUrl: { format: BUTTON_URL, usual: null, may: TERMS },
  webPageUrl: { format: BUTTON_URL, usual: null, may: TERMS },
} as const satisfies Terms<Buttons>;

export const LINK_TERMS: Terms<LinkTerms> = {
  ...OWN_POLICY_TERMS,
  ...BUTTON_TERMS,
  greeting: { format: GREETING, usual: null, audit: 'text', may: ALL },
};

export const LINK_FIELDS = {
  installLimit: { format: INSTALL_LIMIT, may: ALL },
  status: { format: INSTALL_STATUS, may: ALL },
  ...LINK_TERMS,
  note: { format: NOTE, usual: null, audit: 'text', may: ALL },
  subscriptionKeyHash: {
    name: 'subscription_key',
    format: DOMAIN_HASH,
    usual: null,
    audit: 'secret',
    may: ALL,
  },
} as const satisfies Terms<OwnLink>;

/** A provider's terms of what rides. */
export const RIDE_TERMS = {
  ride: { format: RIDE, usual: null, may: TERMS },
  rideDesktop: { format: FLAG, usual: 0, may: TERMS, audit: (is: 0 | 1) => is || null },
  supportUrl: { ...BUTTON_TERMS.supportUrl, may: ALL },
  webPageUrl: { ...BUTTON_TERMS.webPageUrl, may: ALL },
  buttons: { format: BUTTONS, usual: null, none: 'missing', may: TERMS },
  discovery: { format: FLAG, usual: 0, may: TERMS, audit: (is: 0 | 1) => (is ? 'on' : null) },
} as const satisfies Terms<OwnRideTerms>;

/** A provider's page for its users. */
export const MY_TERMS = {
  my: { name: 'page', format: FLAG, usual: 0, may: ALL, audit: (is: 0 | 1) => (is ? 'on' : null) },
  myName: { name: 'page_name', format: PAGE_NAME, usual: null, may: ALL, audit: 'text' },
  myColor: { name: 'page_color', format: PAGE_COLOR, usual: null, may: ALL },
  myTraffic: {
    name: 'page_traffic',
    format: FLAG,
    usual: 0,
    may: ALL,
    audit: (is: 0 | 1) => (is ? 'on' : null),
  },
} as const satisfies Terms<OwnMy>;

/** A key that was stolen from a bot must not let users cut off each link. */
export const MY_CUT_TERMS = {
  myCutOff: {
    name: 'page_cut_off',
    format: FLAG,
    usual: 0,
    may: ['operator', 'staff'],
    audit: (is: 0 | 1) => (is ? 'on' : null),
  },
} as const satisfies Terms<OwnMyCut>;

/** A provider's terms of `add-install` for its bot. */
export const BOT_TERMS = {
  rc2Body: { name: 'rc2_body', format: RC2_BODY, usual: null, may: TERMS },
  shortCodes: { format: FLAG, usual: 0, may: TERMS, audit: (is: 0 | 1) => is || null },
} as const satisfies Terms<OwnBot>;

/** A provider's terms of the figures of subscriptions. */
export const FIGURE_TERMS = {
  subscriptionFigures: {
    format: FLAG,
    usual: 0,
    may: TERMS,
    audit: (is: 0 | 1) => (is ? 'on' : null),
  },
} as const satisfies Terms<OwnFigures>;

/** A provider's terms of reminders. */
export const QUIET_TERMS = {
  quietFrom: { format: DAY_TIME, usual: null, may: ALL },
  quietTo: { format: DAY_TIME, usual: null, may: ALL },
  timeZone: { format: TIME_ZONE, usual: null, may: ALL },
} as const satisfies Terms<OwnQuiet>;

/** The fields that a provider itself may set, for all of its links. */
export const OWN_TERMS = {
  ...OWN_POLICY_TERMS,
  ...RIDE_TERMS,
  ...MY_TERMS,
  ...BOT_TERMS,
  ...FIGURE_TERMS,
  ...QUIET_TERMS,
} as const satisfies Terms<OwnTerms>;

const END = { format: whole(0, TIME_MAX_MS), usual: null, may: OPERATOR, audit: isoTime } as const;
const { supportUrl, webPageUrl, ...riding } = RIDE_TERMS;
const { myName, ...page } = MY_TERMS;

export const PROVIDER_FIELDS = {
  plan: { format: PLAN, may: OPERATOR },
  activeUntilMs: { name: 'active_until', ...END },
  installCountMax: { name: 'max_links', format: LINK_CAP, usual: null, may: OPERATOR },
  ...OWN_POLICY_TERMS,
  ...riding,
  supportUrl,
  webPageUrl,
  ...page,
  ...MY_CUT_TERMS,
  ...BOT_TERMS,
  ...FIGURE_TERMS,
  ...QUIET_TERMS,
  name: { format: PROVIDER_NAME, may: OPERATOR, audit: 'text' },
  myName,
  suspendedAtMs: { name: 'suspended_at', ...END },
} as const satisfies Terms<ProviderTerms>;
