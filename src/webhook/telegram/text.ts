/** The text of an event for a Telegram chat: a title, and a line for each field of its data. */

import { type EventData, type StoredEvent, TEST_EVENT } from '../../core/port/event.ts';
import type { WEBHOOK_LOCALES } from '../../core/port/webhook.ts';
import { EN } from './en.ts';
import { FA } from './fa.ts';
import { Formats } from './formats.ts';
import { RU } from './ru.ts';
import type { Words } from './words.ts';
import { ZH } from './zh.ts';

type Locale = (typeof WEBHOOK_LOCALES)[number];

const LANGUAGES: Readonly<Record<Locale, Words>> = { en: EN, ru: RU, zh: ZH, fa: FA };
/** Made when a language is first spoken. */
const FORMATS: { [L in Locale]?: Formats } = {};

/** Most characters of a value that somebody chose: all lines together stay far below 4096. */
const VALUE_LENGTH_MAX = 200;

/** Most words of a list; there are not as many. */
const WORDS_MAX = 20;

/** The first character of a line makes its direction, whatever a value begins with. */
const RIGHT_TO_LEFT_MARK = '\u200F';
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_DIRECTIONAL_ISOLATE = '\u2069';

/** Controls, and marks by which a value could turn the text around it: none of it is to be read. */
const UNREADABLE = /[\p{Cc}\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069\u2028\u2029]/gu;

/** HTML of the Bot API (`parse_mode` HTML). */
export function telegramText(event: StoredEvent, locale: Locale): string {
  const words = LANGUAGES[locale];
  FORMATS[locale] ??= new Formats(words);
  const say = new Speech(words, FORMATS[locale], event.data);
  const lines = LINES.map((line) => line(say)).filter((line) => line !== null);
  if (event.kind === TEST_EVENT) lines.unshift(words.welcome);
  const title = `<b>${words.titles[titleOf(event)]}</b>`;
  const all = [title, ...lines, say.line('time', say.instant(event.atMs))];
  const begin = words.isRightToLeft ? RIGHT_TO_LEFT_MARK : '';
  return all.map((line) => `${begin}${line}`).join('\n');
}

/** A quota that is not used up yet is a warning. */
function titleOf({ kind, data }: StoredEvent): keyof Words['titles'] {
  return kind === 'quota.reached' && Number(data['percent']) < 100 ? 'quota.near' : kind;
}

type Label = keyof Words['labels'];
type Line = (say: Speech) => string | null;

/** Lines in their order; null: the event does not say it. */
const LINES: readonly Line[] = [
  (say) => say.field('provider', 'provider_code'),
  (say) => say.record('link', 'install_id'),
  (say) => say.field('device', 'device_name'),
  (say) => say.code('hwid', 'hwid'),
  (say) => say.code('newHwid', 'new_hwid'),
  places,
  linkStatus,
  (say) => say.words('changed', 'changed'),
  (say) => say.field('lastSeen', 'last_seen_at', 'instant'),
  (say) => say.word('reason', 'reason'),
  (say) => say.field('refusals', 'count', 'number'),
  (say) => say.record('message', 'distribution_id'),
  (say) => say.word('messageKind', 'type'),
  (say) => say.field('recipients', 'recipients', 'number'),
  (say) => say.field('sent', 'sent', 'number'),
  (say) => say.field('failed', 'failed', 'number'),
  (say) => say.word('quota', 'quota'),
  used,
  (say) => say.field('timeLeft', 'days', 'days'),
  (say) => say.field('endsAt', 'ends_at', 'instant'),
  (say) => say.field('endedAt', 'ended_at', 'instant'),
  (say) => say.field('activeUntil', 'active_until', 'instant'),
  (say) => say.word('plan', 'plan', NAMES),
  (say) => say.field('oldKeyUntil', 'old_key_until', 'instant'),
  (say) => say.record('webhook', 'webhook_id'),
  (say) => say.word('gateway', 'gateway', NAMES),
  (say) => say.field('freeSpace', 'free_bytes', 'bytes'),
  (say) => say.field('reason', 'problem'),
  (say) => say.word('reason', 'why'),
];

/** The status of a link as the contract numbers it. */
const LINK_STATUS: Readonly<Record<string, string>> = { 5: 'disabled', 10: 'active' };

/** Distributions have a status too, which their title says. */
function linkStatus(say: Speech): string | null {
  return LINK_STATUS[String(say.data['status'])] ? say.word('status', 'status', LINK_STATUS) : null;
}

/** Names that are the same in every language. */
const NAMES: Readonly<Record<string, string>> = {
  ...{ fcm: 'FCM', apns: 'APNs', webpush: 'Web Push', telegram: 'Telegram' },
  ...{ basic: 'Basic', pro: 'Pro', enterprise: 'Enterprise' },
};

function places(say: Speech): string | null {
  const { install_count: count, install_limit: limit } = say.data;
  if (typeof limit !== 'number') return null;
  if (typeof count !== 'number') return say.line('placesMax', say.number(limit));
  return say.line('places', say.of(say.number(count), say.number(limit)));
}

function used(say: Speech): string | null {
  const { percent, used: count, limit, quota } = say.data;
  if (typeof count !== 'number' || typeof limit !== 'number') return null;
  const show = (value: number) => (quota === 'kept_bytes' ? say.bytes(value) : say.number(value));
  const share = typeof percent === 'number' ? say.share(percent) : '';
  return say.line('used', say.of(show(count), show(limit)) + share);
}

/** Lines in one language about the data of one event. */
class Speech {
  constructor(
    private readonly language: Words,
    private readonly formats: Formats,
    readonly data: EventData,
  ) {}

  line(label: Label, value: string): string {
    return `${this.language.labels[label]}${this.language.colon}${value}`;
  }

  /** A line about a field; null: the event has none, or it is empty. */
  field(
    label: Label,
    name: string,
    form: 'number' | 'days' | 'bytes' | 'instant' | 'text' = 'text',
  ) {
    const value = this.data[name];
    if (value === undefined || value === null || value === '') return null;
    if (form === 'instant') return this.#instantLine(label, String(value));
    if (typeof value === 'number' && form !== 'text') return this.line(label, this[form](value));
    return this.line(label, this.#foreign(escaped(String(value))));
  }

  /** A text to be copied. */
  code(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'string' || value === '') return null;
    return this.line(label, this.#foreign(`<code>${escaped(value)}</code>`));
  }

  /** The number of a record: in the digits in which commands and calls take it. */
  record(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'number') return null;
    return this.line(label, this.#foreign(`${this.language.numberSign}${value}`));
  }

  /** A value that is one of a few, which `keys` may translate first; else as it is. */
  word(label: Label, name: string, keys: Readonly<Record<string, string>> = {}): string | null {
    const value = this.data[name];
    if (value === undefined || value === null || value === '') return null;
    return this.line(label, this.#inWords(keys[String(value)] ?? String(value)));
  }

  /** Several of those, which the data has between commas. */
  words(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'string' || value === '') return null;
    const shown = value.split(',', WORDS_MAX).map((key) => this.#inWords(key));
    return this.line(label, shown.join(this.language.separator));
  }

  number(value: number): string {
    return this.formats.number(value);
  }

  days(value: number): string {
    return this.formats.days(value);
  }

  bytes(value: number): string {
    return this.formats.bytes(value);
  }

  instant(epochMs: number): string {
    return `${this.formats.instant(epochMs)} ${this.#foreign('UTC')}`;
  }

  of(part: string, whole: string): string {
    return this.language.of.replace('$1', part).replace('$2', whole);
  }

  share(percent: number): string {
    return this.language.share.replace('$1', this.formats.percent(percent));
  }

  #inWords(key: string): string {
    const values: Readonly<Record<string, string>> = this.language.values;
    const known = Object.hasOwn(values, key) ? values[key] : undefined;
    return known ?? this.#foreign(escaped(key));
  }

  #instantLine(label: Label, text: string): string | null {
    const epochMs = Date.parse(text);
    return Number.isNaN(epochMs) ? null : this.line(label, this.instant(epochMs));
  }

  /** Keeps a value that may run from left to right from moving what stands around it. */
  #foreign(value: string): string {
    if (!this.language.isRightToLeft) return value;
    return `${FIRST_STRONG_ISOLATE}${value}${POP_DIRECTIONAL_ISOLATE}`;
  }
}

function escaped(value: string): string {
  const readable = value.replace(UNREADABLE, ' ').toWellFormed();
  const characters = [...readable];
  const short =
    characters.length > VALUE_LENGTH_MAX
      ? `${characters.slice(0, VALUE_LENGTH_MAX - 1).join('')}…`
      : readable;
  return short.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
