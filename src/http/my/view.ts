/** Writes the page of users: HTML without a script, below 10 KB. */

import { DAY_MS, HOUR_MS, MINUTE_MS, sameUtcDay } from '../../core/calendar.ts';
import { isSharedHwid } from '../../core/formats.ts';
import { type MyPlace, myNameOf, type OpenedMy } from '../../core/my.ts';
import { FIGURES_PARAM } from '../../core/my-figures.ts';
import { Html, html, type Part } from '../document/html.ts';
import { figuresCard } from './figures-view.ts';
import { NEWS_TEXTS } from './news-texts.ts';
import { myStyle } from './style.ts';
import { MY_TEXTS, type MyLanguage, type MyTexts } from './texts.ts';

/** The most slots of a page. */
export const PLACES_EACH = 8;
/** The most characters of the name that a device reports. */
const NAME_LENGTH_MAX = 32;

/** The result of an action, shown above the slots. */
export type Said = 'freed' | 'cut' | 'gone' | 'cooling';

export interface ViewOf {
  language: MyLanguage;
  /** The path of the page. */
  path: string;
  nowMs: number;
}

const RELATIVE = new Map<MyLanguage, Intl.RelativeTimeFormat>();

function relative(language: MyLanguage): Intl.RelativeTimeFormat {
  const known = RELATIVE.get(language);
  if (known !== undefined) return known;
  const made = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  RELATIVE.set(language, made);
  return made;
}

/** Returns the day on which a device was seen: the time is not stored. */
function seenText(seenAtMs: number, { language, nowMs }: ViewOf): string {
  const days = sameUtcDay(seenAtMs, nowMs)
    ? 0
    : Math.max(1, Math.floor(nowMs / DAY_MS) - Math.floor(seenAtMs / DAY_MS));
  const [count, unit] =
    days < 60 ? ([days, 'day'] as const) : ([Math.floor(days / 30), 'month'] as const);
  return relative(language).format(-count, unit);
}

function inText(afterMs: number, language: MyLanguage): string {
  const isSoon = afterMs < HOUR_MS;
  const count = Math.ceil(afterMs / (isSoon ? MINUTE_MS : HOUR_MS));
  return relative(language).format(count, isSoon ? 'minute' : 'hour');
}

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['ios', 'iOS'],
  ['android', 'Android'],
]);

const short = (text: string): string => {
  const characters = [...text];
  if (characters.length <= NAME_LENGTH_MAX) return text;
  return `${characters.slice(0, NAME_LENGTH_MAX - 1).join('')}…`;
};

const systemOf = ({ os, osVersion }: Pick<MyPlace, 'os' | 'osVersion'>) =>
  short(`${SYSTEMS.get(os) ?? os} ${osVersion}`.trim());

function deviceTitle(
  { deviceName, os }: { deviceName: string; os: string },
  texts: MyTexts,
): string {
  return short(deviceName) || short(SYSTEMS.get(os) ?? os) || texts.unnamed;
}

/** The rights of the user on a slot. */
interface May {
  free: boolean;
  cut: boolean;
}

/** Makes the question whether the servers of a device are cut off, too. */
const cutting = ({ reference }: MyPlace, name: string, texts: MyTexts): Html =>
  html`<details><summary aria-label="${texts.cut}: ${name}">${texts.cut}</summary>
<button name="cut" value="${reference}">${texts.cutConfirm}</button></details>`;

function placeItem(place: MyPlace, texts: MyTexts, view: ViewOf, may: May): Html {
  const name = isSharedHwid(place.hwid) ? texts.shared : deviceTitle(place, texts);
  const system = systemOf(place);
  const about = texts.seen(seenText(place.lastSeenAtMs, view));
  const freeing = html`<details><summary aria-label="${texts.free}: ${name}">${texts.free}</summary>
<button name="free" value="${place.reference}">${texts.confirm}</button></details>
${may.cut ? cutting(place, name, texts) : ''}`;
  const here = place.isThis ? html`<span class="here">${texts.here}</span> ` : '';
  return html`<li><div><strong><bdi>${name}</bdi></strong>
${here}<small>${system && html`<bdi>${system}</bdi> · `}${about}</small></div>
${may.free ? freeing : ''}</li>
`;
}

/** The head of a page. `head` and `body` are further elements and data of a page with a script. */
interface Head {
  title: string;
  color: string | null;
  lead: Part;
  head?: Part;
  body?: Part;
}

/** Makes the document around the cards of a page. */
export function documentOf({ language }: ViewOf, head: Head, cards: Part) {
  const style = myStyle(head.color);
  const { text } = html`<!doctype html>
<html lang="${language}" dir="${language === 'fa' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${head.title}</title>
<style>${new Html(style)}</style>
${head.head ?? ''}</head>
<body ${head.body ?? ''}>
<header><h1><bdi>${head.title}</bdi></h1>${head.lead}</header>
<main>
${cards}</main>
</body>
</html>
`;
  return { text, style, isScripted: head.head !== undefined };
}

/** Makes a card with a notice. */
const note = (role: 'alert' | 'status', text: Part): Html =>
  html`<p class="card note" role="${role}">${text}</p>\n`;

const PLAIN_TEXT = new Html(
  'autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="1024" dir="ltr"',
);

/** Writes the page that asks for a link, also after one was not found. */
export function askView(view: ViewOf, isNotFound: boolean) {
  const key = `${view.language} ${isNotFound} ${view.path}`;
  const known = ASKING.get(key);
  if (known !== undefined) return known;
  const made = makeAskView(view, isNotFound);
  // A reload of the settings may change the path.
  if (ASKING.size >= ASKING_MAX) ASKING.clear();
  ASKING.set(key, made);
  return made;
}

/** Pages of the form by language and path: each guess gets one. */
const ASKING = new Map<string, ReturnType<typeof documentOf>>();
const ASKING_MAX = 64;

function makeAskView(view: ViewOf, isNotFound: boolean) {
  const texts = MY_TEXTS[view.language];
  const card = html`${isNotFound ? note('alert', texts.notFound) : ''}
<form class="card" method="post" action="${view.path}">
<label for="link">${texts.ask}</label>
<input type="text" id="link" name="link" ${PLAIN_TEXT} required aria-describedby="hint">
<p class="hint" id="hint">${texts.askHint}</p>
<button>${texts.open}</button>
</form>
`;
  return documentOf(view, { title: texts.title, color: null, lead: '' }, card);
}

/** Returns the end of the addresses of further pages. */
const proofIn = (figures: OpenedMy['figures']) =>
  figures === null ? '' : `&${FIGURES_PARAM}=${figures.proof}`;

/** Makes the links to the other pages of a long list of slots. */
function turning({ figures, link, places }: OpenedMy, view: ViewOf, from: number): Part {
  const texts = MY_TEXTS[view.language];
  const to = (first: number, text: string) => {
    const at = `${view.path}?link=${myNameOf(link)}&from=${first}${proofIn(figures)}`;
    return html`<a class="link" href="${at}">${text}</a> `;
  };
  const before = from > 0 ? to(Math.max(0, from - PLACES_EACH), texts.newer) : '';
  const next = from + PLACES_EACH;
  const after = next < places.length ? to(next, texts.older) : '';
  return before === after ? '' : html`<p>${before}${after}</p>\n`;
}

/** Makes the list of slots, each with a form that frees it. */
function placeList(page: OpenedMy, view: ViewOf, from: number): Html {
  const texts = MY_TEXTS[view.language];
  const { figures, freeFromMs, link, mayCut, places } = page;
  if (places.length === 0) return html`<p class="card">${texts.none}</p>\n`;
  const mayFree = view.nowMs >= freeFromMs;
  const shown = places.slice(from, from + PLACES_EACH);
  const rule = mayFree
    ? texts.every(link.coolDownHours.toLocaleString(view.language))
    : texts.next(inText(freeFromMs - view.nowMs, view.language));
  return html`<form method="post" action="${view.path}">
<input type="hidden" name="link" value="${myNameOf(link)}">
${figures === null ? '' : html`<input type="hidden" name="${FIGURES_PARAM}" value="${figures.proof}">\n`}${mayCut ? html`<p class="card">${texts.cut}: ${texts.cutAsk}</p>` : ''}<ul>
${shown.map((place) => placeItem(place, texts, view, { free: mayFree, cut: mayCut }))}</ul></form>
${turning(page, view, from)}<p class="hint">${rule}</p>
`;
}

/** Makes a link on its own card. */
const wayTo = (url: string, text: string): Html =>
  html`<p><a class="link card" href="${url}" rel="noreferrer">${text}</a></p>\n`;

const newsCard = (name: string, { language, path }: ViewOf): Html =>
  wayTo(`${path}/news?link=${name}`, NEWS_TEXTS[language].lead);

const isFull = ({ deviceCount, installLimit }: OpenedMy['link']) => deviceCount >= installLimit;

/** Returns what the refused device, from which the page was opened, waits for. */
function waitingText(
  { freeFromMs }: OpenedMy,
  waiting: NonNullable<OpenedMy['waiting']>,
  view: ViewOf,
): string {
  const texts = MY_TEXTS[view.language];
  const name = deviceTitle(waiting, texts);
  if (view.nowMs >= freeFromMs) return texts.waiting(name);
  return texts.waitingLater(name, inText(freeFromMs - view.nowMs, view.language));
}

/** Writes the page of a link, from slot number `from` on. */
export function linkView(
  page: OpenedMy,
  view: ViewOf,
  { from, said, hasNews }: { from: number; said: Said | null; hasNews: boolean },
) {
  const texts = MY_TEXTS[view.language];
  const { link, waiting } = page;
  const { myColor: color, supportUrl } = link;
  const refused = waiting && isFull(link) ? waitingText(page, waiting, view) : null;
  const head = html`${said === null ? '' : note('status', texts[said === 'cut' ? 'cutDone' : said])}${
    refused !== null && said === null ? note('status', html`<bdi>${refused}</bdi>`) : ''
  }${figuresCard(page, view)}`;
  const cards = html`${head}${placeList(page, view, from)}${
    hasNews ? newsCard(`${myNameOf(link)}${proofIn(page.figures)}`, view) : ''
  }${supportUrl === null ? '' : wayTo(supportUrl, texts.support)}`;
  const number = (count: number) => count.toLocaleString(view.language);
  const lead = html`<p>${texts.taken(number(link.deviceCount), number(link.installLimit))}</p>`;
  return documentOf(view, { title: link.myName ?? texts.title, color, lead }, cards);
}
