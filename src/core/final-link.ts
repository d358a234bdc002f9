/**
 * The final link: the URL of a subscription with the code of a limited link, in the forms of apps.
 * Apps that call `/install` read the code from the fragment, after the title
 * (www.happ.su/main/dev-docs/limited-links). All others send the query with each request, and the
 * gate in front of the panel reads it. The schemes are those of docs.v2raytun.com/deep-link, of
 * `app-config.json` of remnawave/subscription-page, and of the apps' own pages: INCY, the wiki of
 * hiddify-app, karing.app, sing-box.sagernet.org (clients), Clash Verge Rev.
 */

import type { AddingForm } from './app/record.ts';
import { APPS } from './app/table.ts';

interface Subscription {
  /** An `http` or `https` URL without a fragment. */
  url: string;
  /** The name that apps show; null: the host. */
  title: string | null;
  /** The code; null: the key in the URL names the link. */
  installCode: string | null;
}

/**
 * Reads the URL of a subscription that a person pasted. Drops its fragment and a code of a link,
 * which may be another link's. Returns null if it is no http or https URL, or has a user.
 */
export function readSubscriptionUrl(given: string): string | null {
  const typed = given.trim();
  const url = /^https?:\/\//i.test(typed) ? URL.parse(typed) : null;
  if (url === null || url.username !== '' || url.password !== '') return null;
  url.hash = '';
  const kept = url.search.slice(1).split('&');
  url.search = kept.filter((part) => !/^installid(?:=|$)/i.test(part)).join('&');
  return url.href;
}

type Form = (subscription: Subscription) => string;

/** Returns a title in the form of a fragment. */
const named = ({ title }: Subscription) => (title === null ? '' : `#${encodeURIComponent(title)}`);

const inFragment: Form = (subscription) => {
  const { url, title, installCode } = subscription;
  if (installCode === null) return url + named(subscription);
  return `${url}#${encodeURIComponent(title ?? new URL(url).hostname)}?installid=${installCode}`;
};

const withCode = ({ url, installCode }: Subscription) =>
  installCode === null ? url : `${url}${url.includes('?') ? '&' : '?'}installid=${installCode}`;

const inQuery: Form = (subscription) => withCode(subscription) + named(subscription);

/** The address behind the scheme of an app. */
const BEHIND: Readonly<Record<AddingForm, Form>> = {
  fragment: inFragment,
  query: inQuery,
  value: (subscription) => encodeURIComponent(inQuery(subscription)),
  profile: (subscription) => encodeURIComponent(withCode(subscription)) + named(subscription),
  base64: (subscription) => Buffer.from(inQuery(subscription)).toString('base64'),
};

const FORMS: ReadonlyMap<string, Form> = new Map([
  ['plain', inFragment],
  ['query', inQuery],
  ...APPS.flatMap(({ adding }) =>
    adding.map(({ name, scheme, form }): [string, Form] => [
      name,
      (subscription) => scheme + BEHIND[form](subscription),
    ]),
  ),
]);

/** The names: `plain` and `query` are for any app, the others for the app of that name. */
export const FINAL_FORMS: readonly string[] = [...FORMS.keys()];

/** Returns the final link in a form of {@link FINAL_FORMS}, else in that of any app. */
export const finalLink = (form: string, subscription: Subscription): string =>
  (FORMS.get(form) ?? inFragment)(subscription);
