/** Writes an event as a Telegram message: a title, and a line for each field of its data. */

import { withoutUnseen } from '../../base/visible.ts';
import { PHONE_COUNT } from '../../core/event/happenings.ts';
import { type EventData, type StoredEvent, TEST_EVENT } from '../../core/port/event.ts';
import { FURTHER_SCOPES } from '../../core/port/provider-key.ts';
import { CHAT_FACTS, type ChatFact, type WEBHOOK_LOCALES } from '../../core/port/webhook.ts';
import { ACTIVITY_NAMES, wordOf } from '../../core/status-word.ts';
import { EN, type Words } from './en.ts';
import { FA } from './fa.ts';
import { Formats } from './formats.ts';
import { RU } from './ru.ts';
import { ZH } from './zh.ts';

type Locale = (typeof WEBHOOK_LOCALES)[number];

const LANGUAGES: Readonly<Record<Locale, Words>> = { en: EN, ru: RU, zh: ZH, fa: FA };
/** Constructed when a language is first used. */
const FORMATS: { [L in Locale]?: Formats } = {};

/** Most characters of a value from outside: all lines together stay far below 4096. */
const VALUE_LENGTH_MAX = 200;

/** Most words of a list. */
const WORDS_MAX = 20;

/** The first strong character of a line sets its direction, so a mark comes before any value. */
const RIGHT_TO_LEFT_MARK = '\u200F';
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_DIRECTIONAL_ISOLATE = '\u2069';

interface TextOptions {
  /** The address of the page of users; null: it is not known. */
  page?: string | null;
  /** Facts that the text shows besides; absent: none. */
  shows?: readonly ChatFact[] | undefined;
}

/** Fields of the data that name a person or a phone: only texts that show the fact have them. */
const FIELDS_OF_FACTS: Readonly<Record<ChatFact, readonly string[]>> = {
  note: ['note'],
  phone: ['hwid', 'new_hwid', 'former_hwid', 'device_name', 'os', 'systems'],
};

/** Returns the data without what the chat was not given. The code of a link is in no text. */
function shownData(data: EventData, shows: readonly ChatFact[]): EventData {
  const hidden = CHAT_FACTS.filter((fact) => !shows.includes(fact)).flatMap(
    (fact) => FIELDS_OF_FACTS[fact],
  );
  return Object.fromEntries(Object.entries(data).filter(([name]) => !hidden.includes(name)));
}

/** Returns the text of an event, as HTML of the Bot API (`parse_mode` HTML). */
export function telegramText(
  event: StoredEvent,
  locale: Locale,
  { page = null, shows = [] }: TextOptions = {},
): string {
  const words = LANGUAGES[locale];
  FORMATS[locale] ??= new Formats(words);
  const lines = new Lines(words, FORMATS[locale], shownData(event.data, shows));
  const body = LINES.map((line) => line(lines)).filter((line) => line !== null);
  if (event.kind === TEST_EVENT) body.unshift(words.welcome);
  if (page !== null && event.data['has_page'] === true) body.push(lines.text('my', page));
  const title = `<b>${words.titles[titleOf(event)]}</b>`;
  const all = [title, ...body, lines.line('time', lines.instant(event.atMs))];
  const mark = words.isRightToLeft ? RIGHT_TO_LEFT_MARK : '';
  return all.map((line) => `${mark}${line}`).join('\n');
}

/** Returns the text of the button that leads to a link. */
export const showLinkText = (locale: Locale): string => LANGUAGES[locale].showLink;

/** Returns the title; some events have several. */
function titleOf({ kind, data }: StoredEvent): keyof Words['titles'] {
  if (kind === 'quota.reached' && Number(data['percent']) < 100) return 'quota.near';
  if (kind === 'doctor.found' && data['level'] === 'problem') return 'doctor.problem';
  if (kind === 'link.tie' && data['state'] !== 'tied') {
    return data['state'] === 'waits' ? 'tie.waits' : 'tie.undone';
  }
  if (kind === 'link.cut_off' && data['fetch_until'] === null) return 'cut.failed';
  if (data['what'] !== 'copy') return kind;
  return kind === 'backup.failed' ? 'copy.failed' : 'copy.recovered';
}

type Label = keyof Words['labels'];
/** Returns a line; null: the event has no such field. */
type Line = (lines: Lines) => string | null;

const LINES: readonly Line[] = [
  (lines) => lines.field('provider', 'provider_code'),
  link,
  device,
  (lines) => lines.code('hwid', 'hwid'),
  (lines) => lines.code('newHwid', 'new_hwid'),
  (lines) => lines.code('formerHwid', 'former_hwid'),
  (lines) => lines.field('copies', 'copies', 'number'),
  (lines) => lines.field('systems', 'systems'),
  (lines) => lines.field('moreCopied', 'more', 'number'),
  places,
  linkStatus,
  (lines) => lines.words('changed', 'changed'),
  (lines) => lines.field('oldHost', 'old_host'),
  (lines) => lines.field('newHost', 'new_host'),
  (lines) => lines.field('usedFrom', 'used_from', 'instant'),
  (lines) => lines.field('lastSeen', 'last_seen_at', 'instant'),
  (lines) => lines.word('reason', 'reason'),
  (lines) => lines.field('fetching', 'devices', 'number'),
  (lines) => lines.field('fetchUntil', 'fetch_until', 'instant'),
  (lines) => lines.field('refusals', 'count', 'number'),
  (lines) => lines.several('failures', 'failures'),
  (lines) => lines.field('failingSince', 'failing_since', 'instant'),
  (lines) =>
    lines.data[PHONE_COUNT] === 1 ? null : lines.field('phoneRefusals', PHONE_COUNT, 'number'),
  (lines) => lines.count('furtherRefusals', 'refusals'),
  (lines) => lines.count('phones', 'phones'),
  (lines) => lines.records('links', 'install_ids'),
  (lines) => lines.count('otherEvents', 'events'),
  (lines) => lines.record('message', 'distribution_id'),
  (lines) => lines.word('messageKind', 'type'),
  (lines) => lines.field('recipients', 'recipients', 'number'),
  (lines) => lines.field('sent', 'sent', 'number'),
  (lines) => lines.field('failed', 'failed', 'number'),
  reachable,
  (lines) => lines.count('atNextFetch', 'at_next_fetch'),
  (lines) => lines.count('notKnown', 'not_known'),
  (lines) => lines.count('carried', 'carried'),
  (lines) => lines.word('quota', 'quota'),
  used,
  (lines) => lines.field('timeLeft', 'days', 'days'),
  (lines) => lines.field('endsAt', 'ends_at', 'instant'),
  (lines) => lines.field('endedAt', 'ended_at', 'instant'),
  traffic,
  (lines) => lines.field('inactiveFor', 'inactive_days', 'days'),
  movedLinks,
  (lines) => lines.field('readAt', 'read_at', 'instant'),
  (lines) => lines.field('activeUntil', 'active_until', 'instant'),
  (lines) => lines.word('plan', 'plan', NAMES),
  (lines) => lines.field('oldKeyUntil', 'old_key_until', 'instant'),
  (lines) => lines.word('right', 'right', RIGHTS),
  (lines) => lines.field('keyName', 'key_name'),
  (lines) => lines.code('key', 'key'),
  (lines) => lines.record('webhook', 'webhook_id'),
  (lines) => lines.word('gateway', 'gateway', NAMES),
  finding,
  (lines) => lines.field('todo', 'todo'),
  (lines) => lines.field('since', 'since', 'instant'),
  (lines) => lines.field('day', 'day'),
  (lines) => lines.field('admitted', 'admitted', 'number'),
  (lines) => lines.field('refused', 'refused', 'number'),
  (lines) => lines.field('seen', 'seen', 'number'),
  (lines) => lines.field('linksMade', 'links', 'number'),
  (lines) => lines.field('sends', 'sends', 'number'),
  (lines) => lines.field('delivered', 'delivered', 'number'),
  (lines) => lines.field('freeSpace', 'free_bytes', 'bytes'),
  (lines) => lines.field('version', 'version'),
  (lines) => lines.field('installed', 'installed'),
  (lines) => lines.field('reason', 'problem'),
  (lines) => lines.word('reason', 'why'),
];

/** Returns the line of a link: its number, and its note if the text may show it. */
function link(lines: Lines): string | null {
  const number = lines.record('link', 'install_id');
  const { note } = lines.data;
  return number === null || typeof note !== 'string' ? number : `${number} (${lines.value(note)})`;
}

/** Returns the line of a finding, after the part that was checked. */
function finding(lines: Lines): string | null {
  const { check, finding } = lines.data;
  return typeof finding === 'string' ? lines.text('finding', `${check}: ${finding}`) : null;
}

/** Returns the line of a device: its model and its operating system. */
function device(lines: Lines): string | null {
  const { device_name: name, os } = lines.data;
  const known = [name, os].filter((fact) => typeof fact === 'string' && fact !== '');
  return known.length === 0 ? null : lines.text('device', known.join(', '));
}

/** The status of a link as the contract numbers it. */
const LINK_STATUS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ACTIVITY_NAMES).map(([status, name]) => [status, wordOf(name)]),
);

/** Returns the line of a link's status; that of a distribution is in its title. */
function linkStatus(lines: Lines): string | null {
  return LINK_STATUS[String(lines.data['status'])]
    ? lines.word('status', 'status', LINK_STATUS)
    : null;
}

/** Names that are the same in every language. */
const NAMES: Readonly<Record<string, string>> = {
  fcm: 'FCM',
  apns: 'APNs',
  webpush: 'Web Push',
  telegram: 'Telegram',
  basic: 'Basic',
  pro: 'Pro',
  enterprise: 'Enterprise',
};

/** The words of rights; some of a link have the same names. */
const RIGHTS: Readonly<Record<string, string>> = Object.fromEntries(
  [...FURTHER_SCOPES, 'add_hwid'].map((right) => [right, `right_${right}`]),
);

function places(lines: Lines): string | null {
  const { install_count: count, install_limit: limit } = lines.data;
  if (typeof limit !== 'number') return null;
  if (typeof count !== 'number') return lines.line('placesMax', lines.formats.number(limit));
  return lines.line('places', lines.of(lines.formats.number(count), lines.formats.number(limit)));
}

/** Returns the line of the recipients that a message can come to in some way. */
function reachable(lines: Lines): string | null {
  const { recipients, reachable: count, at_next_fetch: fetch, at_least: isAtLeast } = lines.data;
  if (typeof count !== 'number' || typeof recipients !== 'number' || recipients === 0) return null;
  const shown = lines.formats.number(count + (typeof fetch === 'number' ? fetch : 0));
  const part = isAtLeast === true ? lines.atLeast(shown) : shown;
  return lines.line('reachable', lines.of(part, lines.formats.number(recipients)));
}

/** Returns the line of the traffic of a subscription, in units of 1024, as panels count it. */
function traffic(lines: Lines): string | null {
  const { percent, total_bytes: total, used_bytes: used } = lines.data;
  if (typeof used !== 'number') return null;
  const show = (bytes: number) => lines.formats.bytes(bytes, 1024);
  if (typeof total !== 'number') return lines.line('traffic', show(used));
  const share = typeof percent === 'number' ? lines.share(percent) : '';
  return lines.line('traffic', lines.of(show(used), show(total)) + share);
}

function movedLinks(lines: Lines): string | null {
  const { all_links: links, moved_links: moved } = lines.data;
  if (typeof moved !== 'number' || typeof links !== 'number') return null;
  const { formats } = lines;
  return lines.line('movedLinks', lines.of(formats.number(moved), formats.number(links)));
}

function used(lines: Lines): string | null {
  const { percent, used: count, limit, quota } = lines.data;
  if (typeof count !== 'number' || typeof limit !== 'number') return null;
  const show = (value: number) =>
    quota === 'kept_bytes' ? lines.formats.bytes(value) : lines.formats.number(value);
  const share = typeof percent === 'number' ? lines.share(percent) : '';
  return lines.line('used', lines.of(show(count), show(limit)) + share);
}

/** Writes lines in one language about the data of one event. */
class Lines {
  constructor(
    private readonly language: Words,
    readonly formats: Formats,
    readonly data: EventData,
  ) {}

  line(label: Label, value: string): string {
    return `${this.language.labels[label]}${this.language.colon}${value}`;
  }

  /** Returns the line of a field; null: the event has none, or it is empty. */
  field(
    label: Label,
    name: string,
    form: 'number' | 'days' | 'bytes' | 'instant' | 'text' = 'text',
  ) {
    const value = this.data[name];
    if (value === undefined || value === null || value === '') return null;
    if (form === 'instant') return this.#instantLine(label, String(value));
    if (typeof value === 'number' && form !== 'text')
      return this.line(label, this.formats[form](value));
    return this.text(label, String(value));
  }

  /** Returns the line of a number that is not 0; null: it is. */
  count(label: Label, name: string): string | null {
    return this.data[name] === 0 ? null : this.field(label, name, 'number');
  }

  /** Returns the line of a number above 1; null: it is not. */
  several(label: Label, name: string): string | null {
    return Number(this.data[name]) > 1 ? this.field(label, name, 'number') : null;
  }

  /** Returns the line of a text that others wrote. */
  text(label: Label, value: string): string {
    return this.line(label, this.#foreign(escaped(value)));
  }

  /** Returns the line of a text that readers copy. */
  code(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'string' || value === '') return null;
    return this.line(label, this.#foreign(`<code>${escaped(value)}</code>`));
  }

  /** Returns the line of an id, in the digits that commands and calls accept. */
  record(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'number') return null;
    return this.line(label, this.#foreign(`${this.language.numberSign}${value}`));
  }

  /** Returns the line of several ids, separated by commas in the data. */
  records(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'string' || value === '') return null;
    const shown = value
      .split(',', WORDS_MAX)
      .map((id) => this.#foreign(`${this.language.numberSign}${escaped(id)}`));
    return this.line(label, shown.join(this.language.separator));
  }

  /** Returns the line of a value that is one of a few, which `keys` may map first. */
  word(label: Label, name: string, keys: Readonly<Record<string, string>> = {}): string | null {
    const value = this.data[name];
    if (value === undefined || value === null || value === '') return null;
    return this.line(label, this.#inWords(keys[String(value)] ?? String(value)));
  }

  /** Returns the line of several such values, separated by commas in the data. */
  words(label: Label, name: string): string | null {
    const value = this.data[name];
    if (typeof value !== 'string' || value === '') return null;
    const shown = value.split(',', WORDS_MAX).map((key) => this.#inWords(key));
    return this.line(label, shown.join(this.language.separator));
  }

  /** Returns a value from outside. */
  value(text: string): string {
    return this.#foreign(escaped(text));
  }

  instant(epochMs: number): string {
    return `${this.formats.instant(epochMs)} ${this.#foreign('UTC')}`;
  }

  of(part: string, whole: string): string {
    return this.language.of.replace('$1', part).replace('$2', whole);
  }

  atLeast(number: string): string {
    return this.language.atLeast.replace('$1', number);
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

  /** Isolates a value that may run from left to right from the text around it. */
  #foreign(value: string): string {
    if (!this.language.isRightToLeft) return value;
    return `${FIRST_STRONG_ISOLATE}${value}${POP_DIRECTIONAL_ISOLATE}`;
  }
}

function escaped(value: string): string {
  const readable = withoutUnseen(value).toWellFormed();
  const characters = [...readable];
  const short =
    characters.length > VALUE_LENGTH_MAX
      ? `${characters.slice(0, VALUE_LENGTH_MAX - 1).join('')}…`
      : readable;
  return short.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
