/**
 * The fields of links, providers, webhooks and bindings in words: one label for each, for the
 * console, the Telegram bot and the options of commands, and the words of values. English is the
 * model: a
 * field without a label, or a language without one of the texts, does not compile.
 */

import type { BINDING_FIELDS } from '../core/domain-fields.ts';
import type { OutsideName } from '../core/field.ts';
import type { LinkTerms } from '../core/port/link.ts';
import type { OwnMyCut } from '../core/port/my.ts';
import type { OwnTerms } from '../core/port/provider.ts';
import type { LINK_FIELDS, PROVIDER_FIELDS } from '../core/terms.ts';
import type { WEBHOOK_FIELDS, WebhookSettings } from '../core/webhook-fields.ts';

type LinkField = OutsideName<typeof LINK_FIELDS, keyof typeof LINK_FIELDS>;
type WebhookField = OutsideName<typeof WEBHOOK_FIELDS, keyof typeof WEBHOOK_FIELDS>;
type BindingField = OutsideName<typeof BINDING_FIELDS, keyof typeof BINDING_FIELDS>;
/** Fields of entries of the audit log that are no terms. */
type EntryField = 'role' | 'key';
type ProviderField = OutsideName<typeof PROVIDER_FIELDS, keyof typeof PROVIDER_FIELDS>;

export const labels = {
  install_limit: 'device limit',
  status: 'status',
  note: 'note',
  greeting: 'greeting',
  subscription_key: 'subscription key',
  inactive_days: 'days without use',
  when_full: 'new device on a full link',
  cool_down_hours: 'hours between replacements',
  enforce: 'enforcement of the limit',
  without_hwid: 'apps without a HWID',
  same_phone: 'phone with a new HWID',
  same_phone_hours: 'hours of silence of its slot',
  copied_hwid: 'several phones with one HWID',
  when_new: 'new device that was not named',
  ride: 'what rides on subscriptions',
  ride_desktop: 'notifications to desktop systems',
  support_url: 'support button',
  web_page_url: 'page button',
  buttons: 'when the buttons are sent',
  discovery: 'apps find the message server',
  page: 'customer page',
  page_name: 'name on the page',
  page_color: 'colour of the page',
  page_traffic: 'traffic on the page',
  page_cut_off: 'cutting off on the page',
  rc2_body: 'body of rc 2',
  short_codes: 'short codes of new links',
  subscription_figures: 'figures of subscriptions',
  quiet_from: 'quiet hours from',
  quiet_to: 'quiet hours until',
  time_zone: 'time zone',
  name: 'name',
  plan: 'plan',
  active_until: 'end of the plan',
  suspended_at: 'suspended since',
  max_links: 'link limit',
  kind: 'kind',
  scheme: 'signature',
  locale: 'language of the texts',
  with: 'also shown in the chat',
  events: 'events',
  figures: 'figures of subscriptions in events',
  enabled: 'enabled',
  address: 'address',
  domain_name: 'name',
  role: 'role',
  key: 'key',
} satisfies Record<LinkField | ProviderField | WebhookField | BindingField | EntryField, string>;

/** The words of values, by field. */
export const choices = {
  status: { 5: 'disabled', 10: 'active' },
  when_full: { refuse: 'is refused', 'replace-oldest': 'replaces the oldest' },
  enforce: { 1: 'applies', 0: 'only counts' },
  without_hwid: { refuse: 'are refused', pass: 'pass', count: 'count as one device' },
  same_phone: { off: 'is a new device', ask: 'asks you first', replace: 'takes its old slot' },
  copied_hwid: {
    off: 'are one device',
    tell: 'are one device, with a notice to you',
    count: 'have a slot each',
    refuse: 'only the first is let in',
  },
  when_new: { admit: 'gets a free slot', refuse: 'is refused' },
  ride: { off: 'nothing', notifications: 'notifications only' },
  ride_desktop: { 0: 'do not ride', 1: 'ride too' },
  buttons: { missing: 'if the panel sends none', always: 'always' },
  discovery: { 0: 'no', 1: 'if they ask' },
  subscription_figures: { 0: 'are not kept', 1: 'are kept' },
  figures: { 0: 'are not sent', 1: 'are sent' },
};

export type Labels = Record<keyof typeof labels, string>;
export type Choices = {
  [F in keyof typeof choices]: Record<keyof (typeof choices)[F], string>;
};

interface Explained {
  /** The placeholder of the option of commands, and what its help says after the label. */
  option: readonly [value: string, help: string];
  /** The purpose of the parameter of the API; the sentence about its default follows. */
  about: string;
}

/** The terms as `--help` and the document of the API explain them, in English. */
export const explained: Readonly<
  Record<keyof LinkTerms | keyof OwnTerms | keyof OwnMyCut | keyof WebhookSettings, Explained>
> = {
  inactiveDays: {
    option: ['days', ' after which a slot is freed for a new device, 0 for never, or default'],
    about:
      'Days after which a new device may take a slot that was not seen, if none is free; 0 is never.',
  },
  whenFull: {
    option: ['way', ': how it is answered'],
    about:
      'How a full link answers a new device: `refuse` it, or give it the slot that was not seen for longest.',
  },
  coolDownHours: {
    option: ['hours', ', or default'],
    about: 'Hours that must pass from one such replacement on the link to the next.',
  },
  enforce: {
    option: ['state', '; off only counts the devices over it'],
    about:
      '0: a full link only counts, and admits devices over its limit, 100 at most. From the answer to 1 it refuses new ones, and those that have a slot keep it.',
  },
  withoutHwid: {
    option: ['way', ': how the gate answers; count gives them one slot together'],
    about:
      'How the gate answers an app that sends no HWID: `refuse` it, let it `pass` without a slot, or `count` all such apps as one device.',
  },
  samePhone: {
    option: ['way', ' on a full link: whether it gets its silent slot, or you are asked'],
    about:
      'What a full link does with a new device of the same model, system and app as a device that was silent for `same_phone_hours`: `replace` that one, once in `cool_down_hours`, or refuse it and `ask` you, in the event and in `list-refused`.',
  },
  samePhoneHours: {
    option: [
      'hours',
      ', from the end of the UTC day of its last use, after which a phone with a new HWID may take it, or default',
    ],
    about:
      'Hours for which the slot of such a device must be silent, from the end of the UTC day of its last use: up to 24 more than from the use itself.',
  },
  copiedHwid: {
    option: ['way', ': no matter, an event, a slot for each, or a refusal of all but the first'],
    about:
      'What a link does with several phones that send one HWID: nothing (`off`), an event (`tell`), a slot for each further phone (`count`), or a refusal of all but the first (`refuse`).',
  },
  whenNew: {
    option: ['way', ' on a link: refuse admits only HWIDs that were named for it'],
    about:
      'What the link does with a HWID that is not on it: `admit` it to a free slot, or `refuse` it, so that only HWIDs of `add-hwid` come in. A link that only counts admits it.',
  },
  greeting: {
    option: ['text', ': what {greeting} of messages shows, or none'],
    about:
      'What `{greeting}` of a message with `fill` shows on the devices of the link: one line of at most 40 characters, without signs of direction. No import from a panel sets it, and a note is never shown.',
  },
  supportUrl: {
    option: ['url', ' in apps: its address, or none'],
    about: 'The address of the button for support in apps that have one.',
  },
  webPageUrl: {
    option: ['url', ' in apps: its address, or none'],
    about: "The address of the button for the provider's page, likewise.",
  },
  ride: {
    option: ['what', ' at most; default: the configured level'],
    about:
      'The most of the messages that rides on subscriptions, in the headers that apps read: `off`, or `notifications` and no commands.',
  },
  rideDesktop: {
    option: ['answer', ': whether they ride too'],
    about:
      '1: general notifications ride to other systems than iOS and Android too, whatever their `os`.',
  },
  buttons: {
    option: ['when', ': if the panel sends none (missing), or always'],
    about: 'Whether the buttons stand only where the panel sends none (`missing`), or `always`.',
  },
  discovery: {
    option: ['answer', ' by the subscription, if they ask'],
    about:
      '1: an app that asks for it by `x-device-protocol: 1` learns from the answer to its subscription where it can register for messages.',
  },
  my: {
    option: ['answer', ', where users can free slots'],
    about: '1: each link has a page where its user sees its devices and frees them.',
  },
  myName: {
    option: ['name', ', or none'],
    about: 'The name on that page.',
  },
  locale: {
    option: ['language', ' in a chat'],
    about: 'For a chat: the language of its texts.',
  },
  shows: {
    option: ['facts', ': note, phone, note,phone or none'],
    about:
      'For a chat: what its texts show besides: the note of a link, and the phone (HWID, model, system).',
  },
  events: {
    option: ['kinds', ': kinds separated by commas, or all'],
    about: 'The kinds to send. A change drops waiting deliveries of others.',
  },
  figures: {
    option: ['state', ', of a webhook of a provider'],
    about:
      '1: `link.updated`, `link.full`, `link.refused` and the events of its end and traffic have the figures of the subscription. An account switches that on in the console; a key can only switch it off, and does so with another URL, chat or secret.',
  },
  rc2Body: {
    option: ['state', ' of add-install: whether it names your own link, or default'],
    about:
      '`on`: `Install code exists` of add-install is for your own links alone, and its body has `id` and `install_code` of the link; a code of another provider is refused with the detail `taken`. `off`: as the contract has it.',
  },
  shortCodes: {
    option: ['answer', ': whether add-install accepts codes of 8 to 11 signs'],
    about:
      '1: add-install accepts an `install_code` of 8 to 11 characters that mixes digits and letters, or both cases of letters.',
  },
  subscriptionFigures: {
    option: ['state', ': whether end and traffic of subscriptions are kept'],
    about:
      '1: the end and the traffic of subscriptions, as the panel tells them, are kept for lists and messages. 0: they are deleted.',
  },
  quietFrom: {
    option: ['time', ', as 22:00: no reminder is sent between these two times'],
    about:
      'The time of the day, `HH:MM` in `time_zone`, from which no reminder is sent until `quiet_to`.',
  },
  quietTo: {
    option: ['time', ', as 08:00'],
    about: 'The time of the day until which no reminder is sent.',
  },
  timeZone: {
    option: ['offset', ' of quiet hours and of dates in messages, as +03:00'],
    about: 'The zone of quiet hours and of dates in messages: its distance from UTC, as `+03:00`.',
  },
  myColor: {
    option: ['color', ', such as #1a2b3c, or none'],
    about: 'The colour of that page.',
  },
  myTraffic: {
    option: ['state', ': whether users see their traffic there beside the days that are left'],
    about:
      '1: that page shows the traffic of the subscription beside the days that are left. It shows both only to who opens it from an app on the link or by the address of the subscription.',
  },
  myCutOff: {
    option: ['state', ': whether users may have the servers of a removed device cut off'],
    about:
      'Whether users of that page may cut off the device that they remove, once a day and link.',
  },
};
