/** `--preview` of messages to devices: the text in each app. */

import { visible } from '../base/visible.ts';
import { ridesAt } from '../core/device-reach.ts';
import type { FillExample } from '../core/message/filling.ts';
import { plainText } from '../core/message/plain-text.ts';
import type { DistributionType } from '../core/port/distribution.ts';
import type { Provider } from '../core/port/provider.ts';
import type { Ways } from '../core/port/way.ts';
import type { RidingPayload } from '../core/ride/parts.ts';
import { type Preview, previewsOf, type Shown } from '../core/ride/preview.ts';
import { type RidingTerms, ridingOf } from '../core/ride/ways.ts';

/** Returns the preview of a message, as JSON and as text. */
export function previewOf(
  type: DistributionType,
  payload: RidingPayload,
  provider: Provider,
  ways: Ways,
  examples: readonly FillExample[],
) {
  const terms = ridingOf(ways, provider);
  const apps = previewsOf(type, payload, terms);
  const facts = {
    provider_code: provider.code,
    rides: ridesAt(type, terms.level),
    within_hours: terms.withinHours,
    apps,
    ...(examples.length > 0 && {
      examples: examples.map((one) => ({ link_id: one.installId, payload: one.payload })),
    }),
  };
  const lines = [...apps.flatMap(appLines), ...lastLines(type, apps, terms)];
  return { facts, text: [...lines, ...examples.flatMap(exampleLines)].join('\n') };
}

/** Returns the texts as the devices of a link get them. */
function exampleLines({ installId, payload }: FillExample): string[] {
  const { body, locales = {} } = payload;
  const others = Object.entries(locales).flatMap(([tag, one]) =>
    one.body === undefined ? [] : [[`  in ${visible(tag)}`, one.body] as const],
  );
  const all = [['', body] as const, ...others];
  return [
    `As link #${installId} gets it:`,
    ...all.flatMap(([head, html]) => [
      ...(head === '' ? [] : [head]),
      ...plainText(html)
        .split('\n')
        .map((line) => `    ${visible(line)}`),
    ]),
  ];
}

const appName = ({ app }: Preview) => app ?? 'any other app';

/** Names the app, and says where it is not known whether it shows a message. */
const titleOf = (preview: Preview) =>
  preview.app === null && preview.shown.some(({ text }) => text !== null)
    ? `${appName(preview)}: whether it shows this is not known`
    : appName(preview);

function appLines(preview: Preview): string[] {
  const { shown } = preview;
  return shown.length === 0 ? [] : [titleOf(preview), ...shown.flatMap(shownLines)];
}

function shownLines({ locale, headers }: Shown): string[] {
  const lines = Object.entries(headers).map(([name, value]) => {
    const [first = '', ...more] = plain(value).split('\n').map(visible);
    return [`    ${name}: ${first}`, ...more.map((line) => `      ${line}`)].join('\n');
  });
  const none = '    no header: the fetch itself does it, or an absent header';
  return [
    ...(locale === null ? [] : [`  in ${visible(locale)}`]),
    ...(lines.length ? lines : [none]),
  ];
}

/** Returns the text that a header has in base64. */
const plain = (value: string) =>
  value.startsWith('base64:') ? Buffer.from(value.slice(7), 'base64').toString() : value;

function lastLines(type: DistributionType, apps: readonly Preview[], terms: RidingTerms) {
  const without = apps.filter(({ shown }) => shown.length === 0).map(appName);
  const { hasProviderId } = terms;
  return [
    ...(without.length === 0 ? [] : [`Nothing to show: ${without.join(', ')}`]),
    ...(hasProviderId
      ? []
      : ['Happ reads settings and moves only with a Provider ID: none is set.']),
    ...(ridesAt(type, terms.level) ? [] : ['It would not ride: rides are off for it here.']),
  ];
}
