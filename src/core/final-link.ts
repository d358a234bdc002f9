/**
 * The final link: the URL of a subscription with the code of a limited link, in the forms of apps.
 * Apps that call `/install` read the code from the fragment, after the title
 * (www.happ.su/main/dev-docs/limited-links). All others send the query with each request, and the
 * gate in front of the panel reads it. The schemes are those of docs.v2raytun.com/deep-link, of
 * `app-config.json` of remnawave/subscription-page, and of the apps' own pages: INCY, the wiki of
 * hiddify-app, karing.app, sing-box.sagernet.org (clients), Clash Verge Rev.
 */

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

/** Puts a scheme before a form: before its text, or before its text as a value of the query. */
const after =
  (scheme: string, form: Form): Form =>
  (subscription) =>
    scheme + form(subscription);
const asValue =
  (scheme: string): Form =>
  (subscription) =>
    scheme + encodeURIComponent(inQuery(subscription));

const asProfile =
  (scheme: string): Form =>
  (subscription) =>
    scheme + encodeURIComponent(withCode(subscription)) + named(subscription);

const FORMS = {
  plain: inFragment,
  query: inQuery,
  happ: after('happ://add/', inFragment),
  'happ-query': after('happ://add/', inQuery),
  v2raytun: after('v2raytun://import/', inQuery),
  flclashx: asValue('flclashx://install-config?url='),
  'koala-clash': asValue('koala-clash://install-config?url='),
  'prizrak-box': asValue('prizrak-box://install-config?url='),
  incy: after('incy://add/', inQuery),
  hiddify: after('hiddify://import/', inQuery),
  karing: asValue('karing://install-config?url='),
  clash: asValue('clash://install-config?url='),
  'sing-box': asProfile('sing-box://import-remote-profile?url='),
  shadowrocket: (subscription) => `sub://${Buffer.from(inQuery(subscription)).toString('base64')}`,
} as const satisfies Readonly<Record<string, Form>>;

export type App = keyof typeof FORMS;

/** The forms: `plain` and `query` are for any app, the others for the app of that name. */
export const APPS = Object.keys(FORMS) as App[];

/** Returns the final link in the form of `app`. */
export function finalLink(app: App, subscription: Subscription): string {
  return FORMS[app](subscription);
}
