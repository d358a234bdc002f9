/** The end and the traffic of a subscription on the page of its user, with the way to pay. */

import { type FillValues, fillText } from '../../core/message/fill.ts';
import { USUAL_TIME_ZONE } from '../../core/message/filling.ts';
import type { OpenedMy } from '../../core/my.ts';
import { html, type Part } from '../document/html.ts';
import { MY_TEXTS, type MyLanguage } from './texts.ts';

const NOTHING: FillValues = {
  deviceCount: null,
  endsAtMs: null,
  greeting: null,
  installLimit: null,
  totalBytes: null,
  usedBytes: null,
};

/** Makes the card with the figures; empty: there are none, or the page may not show them. */
export function figuresCard(
  { figures, link }: Pick<OpenedMy, 'figures' | 'link'>,
  { language, nowMs }: { language: MyLanguage; nowMs: number },
): Part {
  if (figures === null) return '';
  const { endsAtMs, totalBytes, usedBytes } = figures;
  if (endsAtMs === null && usedBytes === null) return '';
  const texts = MY_TEXTS[language];
  const time = { nowMs, timeZone: link.timeZone ?? USUAL_TIME_ZONE };
  const day = (form: string) => fillText(form, { ...NOTHING, endsAtMs }, time, language);
  const bytes = (count: number) =>
    fillText('{traffic_used}', { ...NOTHING, usedBytes: count }, time, language);
  const ending = (ms: number) =>
    ms <= nowMs
      ? html`<strong>${texts.ended(day('{end_date}'))}</strong>`
      : html`<strong>${texts.daysLeft(day('{days_left}'))}</strong>
<small>${texts.endsOn(day('{end_date}'))}</small>`;
  const traffic = (used: number) =>
    html`<p>${
      totalBytes === null ? texts.used(bytes(used)) : texts.usedOf(bytes(used), bytes(totalBytes))
    }</p>`;
  const { webPageUrl } = link;
  return html`<section class="card">${endsAtMs === null ? '' : ending(endsAtMs)}
${usedBytes === null ? '' : traffic(usedBytes)}${
  webPageUrl === null
    ? ''
    : html`<p><a class="link pay" href="${webPageUrl}" rel="noreferrer">${texts.pay}</a></p>`
}</section>
`;
}
