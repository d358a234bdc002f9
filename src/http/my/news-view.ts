/** Writes the page of news: the messages of a browser, and how it gets pushes. */

import { sanitizeBody } from '../../core/message/html.ts';
import { languageOf, localeOf } from '../../core/message/locale.ts';
import type { NotificationPayload } from '../../core/message/notification.ts';
import { plainText } from '../../core/message/plain-text.ts';
import { myNameOf } from '../../core/my.ts';
import type { BrowserMessage } from '../../core/port/browser.ts';
import type { MyLink } from '../../core/port/my.ts';
import { Html, html, type Part } from '../document/html.ts';
import { NEWS_TEXTS, type NewsTexts } from './news-texts.ts';
import { documentOf, type ViewOf } from './view.ts';

/** The most messages of a page. */
export const NEWS_MAX = 20;

interface NewsOf {
  link: MyLink;
  /** The messages; null: the browser is no device of the link. */
  news: readonly BrowserMessage[] | null;
  browserCount: number;
  /** The public key of Web Push. */
  key: string;
  /** The preferred languages, the best first. */
  languages: readonly string[];
  /** The end of addresses of pages that may show figures; empty: they may not. */
  proof: string;
}

/** A drawing of the share button and its menu on iOS. */
const APPLE_PICTURE = new Html(`<svg viewBox="0 0 240 96" role="img" aria-hidden="true">
<g fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round">
<rect x="8" y="8" width="56" height="80" rx="8"/><path d="M26 46v22h20V46M36 56V28m-8 8 8-8 8 8"/>
<path d="M82 48h26m-8-8 8 8-8 8"/><rect x="126" y="24" width="106" height="48" rx="8"/>
<rect x="138" y="38" width="20" height="20" rx="4"/><path d="M148 43v10m-5-5h10m16 0h50"/>
</g></svg>`);

const dateOf = (atMs: number, { language }: ViewOf) =>
  new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(atMs);

/** Returns the texts of a message for a reader. The body is filtered HTML. */
function textsFor(payload: NotificationPayload, languages: readonly string[]) {
  const own = localeOf(payload.locales ?? {}, languages, plainText(payload.body));
  return {
    title: own?.title ?? payload.title ?? null,
    // Filters again: an older version may have stored the body.
    body: new Html(sanitizeBody(own?.body ?? payload.body)),
    link: own?.['link-for-open'] ?? payload.link_for_open ?? null,
  };
}

function newsItem(
  { createdAtMs, payload }: BrowserMessage,
  of: NewsOf,
  view: ViewOf,
  texts: NewsTexts,
) {
  const { title, body, link } = textsFor(payload as NotificationPayload, of.languages);
  const head = title === null ? '' : html`<strong>${title}</strong>`;
  const open =
    link === null ? '' : html`<p><a href="${link}" rel="noreferrer">${texts.openLink}</a></p>`;
  return html`<li dir="auto">${head}<div>${body}</div>${open}
<small>${dateOf(createdAtMs, view)}</small></li>
`;
}

/** Makes the form that unsubscribes this browser or all of the link. */
const stopForm = ({ link }: NewsOf, { path }: ViewOf, what: 'this' | 'all', text: string) =>
  html`<form method="post" action="${path}/news"><input type="hidden" name="link" value="${myNameOf(
    link,
  )}"><button class="quiet" name="stop" value="${what}">${text}</button></form>
`;

/** Makes the offer to a browser that gets no news; the script shows one of its parts. */
function offer(texts: NewsTexts): Part {
  const said = ['denied', 'full', 'failed', 'unable'] as const;
  return html`<div class="card"><p>${texts.about}</p>
<button type="button" id="get" hidden>${texts.get}</button>
${said.map((id) => html`<p id="${id}" role="status" hidden>${texts[id]}</p>\n`)}
<div id="apple" hidden><p>${texts.apple}</p>
${APPLE_PICTURE}
<ol><li>${texts.appleShare}</li><li>${texts.appleAdd}</li></ol></div>
<p id="bare">${texts.noScript}</p></div>
`;
}

/** Makes the messages of a browser that gets news. */
function received(
  news: readonly BrowserMessage[],
  of: NewsOf,
  view: ViewOf,
  texts: NewsTexts,
): Part {
  const none = news.length === 0 ? html`<p class="card">${texts.none}</p>\n` : '';
  return html`<p class="card note" role="status">${texts.on}</p>
<ul class="news">${news.map((one) => newsItem(one, of, view, texts))}</ul>
${none}${stopForm(of, view, 'this', texts.stop)}`;
}

/** Makes the elements that make the page an installable app, and the data of its script. */
function scripted({ key, link, news }: NewsOf, { path }: ViewOf) {
  const name = myNameOf(link);
  const shown = (news ?? []).map(({ id }) => id).join(' ');
  const at = (part: string) => `${path}/${part}?link=${name}`;
  return {
    head: html`<link rel="manifest" href="${at('app.webmanifest')}" crossorigin="use-credentials">
<link rel="icon" href="${at('icon.svg')}" type="image/svg+xml">
<script src="${path}/news.js" defer></script>
`,
    body: html`data-key="${key}" data-link="${name}" data-path="${path}"
 data-shown="${shown}" data-here="${news === null ? '' : '1'}"`,
  };
}

/** Writes the page of news of a link. */
export function newsView(of: NewsOf, view: ViewOf) {
  const { browserCount, link, news, proof } = of;
  const texts = NEWS_TEXTS[view.language];
  const { myColor: color, myName } = link;
  const list = news === null ? offer(texts) : received(news, of, view, texts);
  const hasOthers = browserCount > (news === null ? 0 : 1);
  const all = hasOthers ? stopForm(of, view, 'all', texts.stopAll) : '';
  const places = `${view.path}?link=${myNameOf(link)}${proof}`;
  const head = {
    title: myName ?? texts.title,
    color,
    lead: myName === null ? '' : html`<p>${texts.title}</p>`,
    ...scripted(of, view),
  };
  const back = html`<p><a class="link" href="${places}">${texts.places}</a></p>\n`;
  return documentOf(view, head, html`${list}${all}${back}`);
}

/** Makes the manifest of the page as an app. */
export function manifestOf(link: MyLink, { language, path }: ViewOf) {
  const { myColor, myName } = link;
  const name = myNameOf(link);
  const texts = NEWS_TEXTS[language];
  return {
    id: `${path}/news`,
    name: myName ?? texts.title,
    // Cuts between characters: half of a surrogate pair is invalid.
    short_name: [...(myName ?? texts.title)].slice(0, 12).join(''),
    lang: languageOf(language),
    start_url: `${path}/news?link=${name}`,
    scope: `${path}`,
    display: 'standalone',
    theme_color: myColor ?? '#2456c9',
    background_color: '#f3f4f6',
    icons: [
      ...(['any', 'maskable'] as const).map((purpose) => ({
        src: `${path}/icon.svg?link=${name}`,
        sizes: 'any',
        type: 'image/svg+xml',
        purpose,
      })),
    ],
  };
}
