/** The headers in which messages ride on the answer to a subscription's fetch. */

import { headersReadBy } from '../app/find.ts';
import { TEXT_LENGTH_MAX } from '../app/make.ts';
import type { App } from '../app/record.ts';
import { APPS } from '../app/table.ts';
import { counted } from '../counted.ts';
import { hostName } from '../host-name.ts';
import type { CommandPayload } from '../message/command.ts';
import { languageOf } from '../message/locale.ts';
import type { NotificationPayload } from '../message/notification.ts';
import { isUrgent, textsOf } from '../message/push.ts';
import { carriesPart } from './carries.ts';
import { asciiLink } from './form.ts';
import { type RidingPayload, settingKeyOf } from './parts.ts';
import { settingsOf } from './setting.ts';
import { cutText, ENCODED_LENGTH_MAX, encodeText, NO_TEXT, tidyLines } from './text.ts';

/** A part of a message for one device. */
export interface Riding {
  readonly distributionId: number;
  /** The part: see `Part`. */
  readonly part: string;
  readonly payload: RidingPayload;
  /** `clears`: the message has ended, and an app that keeps messages must drop it. */
  readonly phase: 'rides' | 'clears';
}

/** The device that fetches. */
export interface RideTo {
  /** The app; null: it is not in the table. */
  readonly app: App | null;
  /** Language tags, the preferred first: see `languagesOf`. */
  readonly languages: readonly string[];
  /** The operator's Provider ID for Happ; null: none. */
  readonly providerId: string | null;
  /** Hosts that a new domain or URL may name, in the form of `hostName`. */
  readonly hosts: readonly string[];
}

/** The headers that ride on an answer. */
export interface Carriage {
  /** Headers: names in lower case; values in printable ASCII, or empty to reset a setting. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of `announce`, for `announceWith`; null: none. */
  readonly announceText: string | null;
  /** The distributions in the answer, each with the names of its headers: `announce, sub-info`. */
  readonly carried: readonly { readonly distributionId: number; readonly what: string }[];
}

/**
 * The most bytes of all headers together: names, values, and four for each line. An announcement
 * counts with the greatest length that `announceWith` can give it.
 */
export const HEADERS_BYTES_MAX = 2048;
/** The most messages that are read. */
const RIDES_MAX = 256;

/** The header of the Provider ID for Happ: HappDev/happ_su, dev-docs/provider-id.md. */
export const PROVIDER_ID_HEADER = 'providerid';
const PROVIDER_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** The buttons beside a subscription. */
export const SUPPORT_URL = 'support-url';
export const WEB_PAGE_URL = 'profile-web-page-url';
/** The header with the hours between two fetches of a subscription. */
export const UPDATE_INTERVAL = 'profile-update-interval';

/**
 * The names of all headers that may be added; the configurations of proxies in docs/gate list each.
 */
export const RIDE_HEADERS: readonly string[] = [
  ...new Set([
    ...APPS.flatMap(({ reads }) => reads.map(({ header }) => header)),
    ...[PROVIDER_ID_HEADER, SUPPORT_URL, WEB_PAGE_URL, UPDATE_INTERVAL],
    ...APPS.flatMap(settingsOf).flatMap(({ headers }) => headers.map(({ header }) => header)),
  ]),
];

/** The most characters of a button's label: HappDev/happ_su, dev-docs/app-management.md. */
const LABEL_LENGTH_MAX = 25;

/** The label of the button that opens a link, in the languages of most users of panels. */
const OPEN_LABELS: ReadonlyMap<string, string> = new Map([
  ['en', 'Open'],
  ['ru', 'Открыть'],
  ['zh', '打开'],
  ['fa', 'باز کردن'],
]);

const ASCII = /^[ -~]*$/;

/** Returns the header of an announcement. */
export const announcement = (text: string): { announce: string } => ({
  announce: encodeText(text),
});

type Named = Record<string, string>;

/** The headers of one answer, within {@link HEADERS_BYTES_MAX}. */
class Load {
  readonly headers: Named = {};
  #bytes = 0;

  constructor(readonly to: RideTo) {}

  /** The Provider ID; null: the app reads none, or it does not fit into a header. */
  get providerId(): string | null {
    const { app, providerId } = this.to;
    const takesOne = app?.reads.some((row) => row.needsProviderId);
    return takesOne && providerId !== null && PROVIDER_ID.test(providerId) ? providerId : null;
  }

  /**
   * Adds headers that belong together, and keeps `spare` bytes free for their growth. Returns false
   * and adds none if the list is empty, one is present already, or they do not fit.
   */
  add(named: Named, needsProviderId: boolean, spare = 0): boolean {
    const id = needsProviderId ? this.providerId : null;
    const all = id === null ? named : { [PROVIDER_ID_HEADER]: id, ...named };
    const fresh = Object.entries(all).filter(
      ([name]) => name !== PROVIDER_ID_HEADER || !(name in this.headers),
    );
    const bytes = fresh.reduce((sum, [name, value]) => sum + name.length + value.length + 4, spare);
    const isTaken = Object.keys(named).some((name) => name in this.headers);
    const isOver = this.#bytes + bytes > HEADERS_BYTES_MAX;
    if (Object.keys(named).length === 0 || isTaken || isOver) return false;
    Object.assign(this.headers, Object.fromEntries(fresh));
    this.#bytes += bytes;
    return true;
  }
}

/**
 * Renders the headers for one device: the notification first, then the others in order. Of several
 * rides of one part the first rides, so callers sort by newest first. Omits headers that the app
 * does not read, values that do not fit, and headers beyond {@link HEADERS_BYTES_MAX}.
 *
 * The caller decides which device may see which part: a `url` only devices that the message names.
 */
export function rideHeaders(rides: readonly Riding[], to: RideTo): Carriage {
  const load = new Load(to);
  const carried = new Map<number, string[]>();
  const note = ({ distributionId }: Riding, what: string) => {
    carried.set(distributionId, [...(carried.get(distributionId) ?? []), what]);
  };
  const bounded = rides.slice(0, RIDES_MAX);
  const message = bounded.find(({ part, phase }) => part === 'message' && phase === 'rides');
  const announceText = message === undefined ? null : addMessage(message, load, note);
  const seen = new Set(['message']);
  for (const ride of bounded) {
    if (ride.phase !== 'rides' || seen.has(ride.part)) continue;
    seen.add(ride.part);
    addCommand(ride, load, note);
  }
  const isCleared = bounded.some(({ part, phase }) => part === 'message' && phase === 'clears');
  if (isCleared) addClearing(load);
  const stamps = [...carried].map(([distributionId, names]) => ({
    distributionId,
    what: summary(names),
  }));
  return { headers: load.headers, announceText, carried: stamps };
}

/** Takes away what an app keeps until it is sent otherwise: a box, or the announcement. */
function addClearing(load: Load): void {
  if (load.providerId !== null) load.add({ 'sub-info-text': '' }, true);
  if (load.to.app?.keepsText) load.add({ announce: NO_TEXT }, false);
}

type Note = (ride: Riding, what: string) => void;

/** Adds a notification. Returns the text of its announcement; null: it does not ride. */
function addMessage(ride: Riding, load: Load, note: Note): string | null {
  const { languages } = load.to;
  const reads = new Map(
    headersReadBy(load.to.app)
      .filter((row) => row.part === 'message' && (!row.needsProviderId || load.providerId !== null))
      .map((row) => [row.header, row]),
  );
  if (!reads.has('announce')) return null;
  const payload = ride.payload as NotificationPayload;
  const texts = textsOf(payload, languages);
  const lengthMax = load.to.app?.textLengthMax ?? TEXT_LENGTH_MAX;
  const text = cutText(tidyLines(`${oneLine(texts.title ?? '')}\n${texts.body}`), lengthMax);
  const header = announcement(text);
  // The panel's own text may be added beside it.
  const spare = Math.max(0, ENCODED_LENGTH_MAX - header.announce.length);
  if (text === '' || !load.add(header, false, spare)) return null;
  note(ride, 'announce');
  const link = texts.link === null ? null : asciiLink(texts.link);
  const linkHeader = reads.get('announce-url');
  const isRead = linkHeader !== undefined && (!linkHeader.isHttpsAlone || isHttps(link));
  if (link !== null && isRead && load.add({ 'announce-url': link }, false)) {
    note(ride, 'announce-url');
  }
  if (!reads.has('sub-info-text')) return text;
  // Red marks urgent messages; blue is the app's default.
  const color = isUrgent(payload) ? 'red' : 'blue';
  const box = { 'sub-info-text': headerText(text), 'sub-info-color': color };
  // Without a button header the app would keep the button of an older message.
  const bare = { 'sub-info-button-text': '' };
  const isBoxed =
    load.add({ ...box, ...(link === null ? bare : button(link, languages)) }, true) ||
    load.add({ ...box, ...bare }, true);
  if (isBoxed) note(ride, 'sub-info');
  return text;
}

const isHttps = (link: string | null) => link !== null && /^https:/i.test(link);

const oneLine = (text: string) => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/**
 * Writes a text for a header of Happ that is not documented to accept base64: ASCII stays plain.
 */
const headerText = (text: string) => (ASCII.test(text) ? text : encodeText(text));

function button(link: string, languages: readonly string[]): Named {
  const tag = languages.map(languageOf).find((language) => OPEN_LABELS.has(language)) ?? 'en';
  const label = cutText(OPEN_LABELS.get(tag) ?? '', LABEL_LENGTH_MAX, 1);
  return { 'sub-info-button-text': headerText(label), 'sub-info-button-link': link };
}

/** Adds a part of a command. */
function addCommand(ride: Riding, load: Load, note: Note): void {
  const { app } = load.to;
  if (!carriesPart(app, ride.part, load.providerId !== null)) return;
  const key = settingKeyOf(ride.part);
  if (ride.part === 'update') note(ride, 'update');
  else if (key !== null && app !== null) addSetting(ride, key, app, load, note);
  else {
    const row = headersReadBy(app).find(({ part }) => part === ride.part);
    const value = changeOf(ride, load.to.hosts);
    if (row === undefined || value === null) return;
    if (load.add({ [row.header]: value }, row.needsProviderId)) note(ride, row.header);
  }
}

function addSetting(ride: Riding, key: string, app: App, load: Load, note: Note): void {
  const setting = settingsOf(app).find((row) => row.key === key);
  const payload = ride.payload as Extract<CommandPayload, { action_type: 'set-settings' }>;
  const value = Object.hasOwn(payload.settings, key) ? payload.settings[key] : undefined;
  if (setting === undefined || value === undefined) return;
  const named: Named = {};
  for (const { header, form } of setting.headers) {
    const written = value === '' ? '' : form.write(value);
    if (written !== null) named[header] = written;
  }
  // The app resets the setting when its header is absent.
  const isDone = value === '' && app.takesBack === 'absent';
  if (isDone || load.add(named, setting.needsProviderId)) note(ride, key);
}

/** Returns the new domain or URL; null: its host is not in the operator's list. */
function changeOf({ part, payload }: Riding, hosts: readonly string[]): string | null {
  if (!('action_type' in payload) || payload.action_type !== 'sub-change') return null;
  const { change_type: type, change_value: value } = payload;
  if (type !== part) return null;
  // No maker documents a port in this header.
  if (type === 'domain') return isAllowed(value, hosts) ? hostName(value) : null;
  // In the form of this parser: others find another host behind `\`, `///` or a percent sign.
  const link = URL.canParse(value) ? asciiLink(new URL(value).href) : null;
  if (link === null || !/^https?:/i.test(link)) return null;
  const { username, password, host } = new URL(link);
  // Some apps find another host behind an `@` than this parser.
  const isPlain = username === '' && password === '' && !link.includes('@');
  return isPlain && isAllowed(host.replace(/:\d+$/, ''), hosts) ? link : null;
}

const isAllowed = (host: string, hosts: readonly string[]) =>
  !host.includes(':') && hosts.includes(hostName(host) ?? '');

/** Shortens the names of headers for a stamp: more than two settings become a count. */
function summary(names: readonly string[]): string {
  const text = names.join(', ');
  return text.length <= 48 ? text : counted(names.length, 'setting');
}
