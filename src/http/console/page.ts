/**
 * The page of the console and its files, embedded in the executable: `packaging/console.ts` makes
 * them. Languages, theme and direction are the server's to set, so that nothing flashes.
 */

import { languagesOf } from '../../core/ride/languages.ts';
import { type Connection, cookieIn, INSECURE, siteOf } from './site.ts';

/** Files of the page, gzipped, by names with a hash, such as `app-1a2b3c4d.js`. */
export type ConsoleFiles = ReadonlyMap<string, Blob>;

/** The languages of the console. */
const LANGUAGES = ['en', 'ru', 'zh', 'fa'] as const;

type Language = (typeof LANGUAGES)[number];

/** The paths of the page; the page itself tells them apart. */
export const PAGES: readonly `/${string}`[] = [
  ...(['/console', '/console/account', '/console/activity', '/console/commands'] as const),
  ...(['/console/compose', '/console/domains', '/console/links', '/console/messages'] as const),
  ...(['/console/staff', '/console/webhooks'] as const),
];

const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
  "img-src 'self' data:; require-trusted-types-for 'script'; trusted-types 'none'",
  "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
].join('; ');

const SAFE = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The cookie of the page with theme and language: `dark.fa`. */
const LOOK = '__Host-gatepost-look';

const NOT_BUILT =
  'The console is not built: run make build, or take the executable of a release.\n';

const isGzipTaken = (request: Request) =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(request.headers.get('accept-encoding') ?? '');

/** Makes the answer of a file: it never changes under its name. */
export function fileAnswer(name: string, gzipped: Blob) {
  const headers = {
    ...SAFE,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    vary: 'accept-encoding',
  };
  return async (request: Request) => {
    if (isGzipTaken(request)) {
      return new Response(gzipped, { headers: { ...headers, 'content-encoding': 'gzip' } });
    }
    return new Response(Bun.gunzipSync(await gzipped.bytes()), { headers });
  };
}

/** Makes the answer of the page. */
export function pageAnswer(files: ConsoleFiles, connectionOf: (request: Request) => Connection) {
  const nameOf = (start: string, end: string) =>
    [...files.keys()].find((name) => name.startsWith(`${start}-`) && name.endsWith(end));
  const [script, style, icon] = [
    nameOf('app', '.js'),
    nameOf('app', '.css'),
    nameOf('mark', '.svg'),
  ];
  const texts = LANGUAGES.map((language) => [language, nameOf(language, '.js')] as const);
  return (request: Request) => {
    if (siteOf(request, connectionOf(request)) === null) {
      return new Response(INSECURE, { status: 403, headers: SAFE });
    }
    const { language, theme } = lookOf(request);
    const textFile = texts.find(([known]) => known === language)?.[1];
    if (script === undefined || style === undefined || textFile === undefined) {
      return new Response(NOT_BUILT, { status: 503 });
    }
    const direction = language === 'fa' ? 'rtl' : 'ltr';
    const at = '/console/';
    const page = `<!doctype html>
<html lang="${language}" dir="${direction}" data-theme="${theme}" data-texts="${at}${textFile}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatepost</title>
<link rel="icon" href="${at}${icon}" type="image/svg+xml">
<link rel="stylesheet" href="${at}${style}">
<link rel="modulepreload" href="${at}${textFile}">
<script type="module" src="${at}${script}"></script>
</head>
<body><div id="app"></div></body>
</html>
`;
    return new Response(page, {
      headers: {
        ...SAFE,
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
      },
    });
  };
}

/** Reads theme and language from the cookie of the page, else from what the browser prefers. */
function lookOf({ headers }: Request): { theme: string; language: Language } {
  const [theme = '', chosen = ''] = (cookieIn(headers, LOOK) ?? '').split('.');
  const wanted = [chosen, ...languagesOf(headers).map((tag) => tag.slice(0, 2))];
  const language = wanted.find((one) => (LANGUAGES as readonly string[]).includes(one));
  return {
    theme: theme === 'dark' || theme === 'light' ? theme : 'auto',
    language: (language ?? 'en') as Language,
  };
}
