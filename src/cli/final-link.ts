/**
 * The final link: the URL of a subscription with the code of a limited link, in the forms that apps
 * know. An app that asks `/install` reads the code in the fragment, behind the title
 * (www.happ.su/main/dev-docs/limited-links). All others send the query with each fetch, and a gate
 * before the panel reads it there. The schemes that hand a URL to an app are those of
 * docs.v2raytun.com/deep-link and of `app-config.json` of remnawave/subscription-page, the page
 * that a panel shows its users.
 */

/** A subscription whose link is to be handed out. */
export interface Subscription {
  /** An `http` or `https` URL without a fragment. */
  url: string;
  /** The name that apps show; null: that of the host. */
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

/** The form with a scheme before it, as it is or as one value of a query. */
const behind =
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
  happ: behind('happ://add/', inFragment),
  'happ-query': behind('happ://add/', inQuery),
  v2raytun: behind('v2raytun://import/', inQuery),
  flclashx: asValue('flclashx://install-config?url='),
  'koala-clash': asValue('koala-clash://install-config?url='),
  'prizrak-box': asValue('prizrak-box://install-config?url='),
  shadowrocket: (subscription) => `sub://${Buffer.from(inQuery(subscription)).toString('base64')}`,
} as const satisfies Readonly<Record<string, Form>>;

export type App = keyof typeof FORMS;

/** The names of the forms: `plain` and `query` for any app, the others for the app of that name. */
export const APPS = Object.keys(FORMS) as App[];

/** The final link in the form of `app`. */
export function finalLink(app: App, subscription: Subscription): string {
  return FORMS[app](subscription);
}
