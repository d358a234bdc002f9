/**
 * The final link: the URL of a subscription with the code of a limited link, in the forms of apps.
 * Apps that call `/install` read the code from the fragment, after the title
 * (www.happ.su/main/dev-docs/limited-links). All others send the query with each request, where the
 * gate before the panel reads it. The schemes are those of docs.v2raytun.com/deep-link and of
 * `app-config.json` of remnawave/subscription-page.
 */

export interface Subscription {
  /** An `http` or `https` URL without a fragment. */
  url: string;
  /** The name that apps show; null: the host. */
  title: string | null;
  installCode: string;
}

type Form = (subscription: Subscription) => string;

const inFragment: Form = ({ url, title, installCode }) =>
  `${url}#${encodeURIComponent(title ?? new URL(url).hostname)}?installid=${installCode}`;

const inQuery: Form = ({ url, title, installCode }) => {
  const name = title === null ? '' : `#${encodeURIComponent(title)}`;
  return `${url}${url.includes('?') ? '&' : '?'}installid=${installCode}${name}`;
};

/** Puts a scheme before a form: before its text, or before its text as a value of a query. */
const after =
  (scheme: string, form: Form): Form =>
  (subscription) =>
    scheme + form(subscription);
const asValue =
  (scheme: string): Form =>
  (subscription) =>
    scheme + encodeURIComponent(inQuery(subscription));

const FORMS = {
  plain: inFragment,
  query: inQuery,
  happ: after('happ://add/', inFragment),
  'happ-query': after('happ://add/', inQuery),
  v2raytun: after('v2raytun://import/', inQuery),
  flclashx: asValue('flclashx://install-config?url='),
  'koala-clash': asValue('koala-clash://install-config?url='),
  'prizrak-box': asValue('prizrak-box://install-config?url='),
  shadowrocket: (subscription) => `sub://${Buffer.from(inQuery(subscription)).toString('base64')}`,
} as const satisfies Readonly<Record<string, Form>>;

export type App = keyof typeof FORMS;

/** `plain` and `query` are for any app, the other forms for the app of that name. */
export const APPS = Object.keys(FORMS) as App[];

/** Returns the final link in the form of `app`. */
export function finalLink(app: App, subscription: Subscription): string {
  return FORMS[app](subscription);
}
