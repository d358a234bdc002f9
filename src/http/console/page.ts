/**
 * The page of the console and its files, embedded in the executable by `packaging/console.ts`. The
 * server sets language, theme and direction, so that nothing flickers.
 */

import { brotliDecompressSync } from 'node:zlib';
import { languagesOf } from '../../core/ride/languages.ts';
import { type Connection, cookieIn, INSECURE, siteOf, tokenIn } from './site.ts';

/** The files of the page in Brotli, by names with a hash, such as `app-1a2b3c4d.js`. */
export type ConsoleFiles = ReadonlyMap<string, Blob>;

/** The languages of the console. */
const LANGUAGES = ['en', 'ru', 'zh', 'fa'] as const;

type Language = (typeof LANGUAGES)[number];

/** The paths of the page, which its script tells apart. */
export const PAGES: readonly `/${string}`[] = [
  ...(['/console', '/console/account', '/console/activity', '/console/commands'] as const),
  ...(['/console/compose', '/console/domains', '/console/links', '/console/messages'] as const),
  ...(['/console/reminders', '/console/staff', '/console/userpage', '/console/webhooks'] as const),
  // Paths of the operator's pages.
  ...(['/console/backups'] as const),
  ...(['/console/accounts', '/console/audit', '/console/health', '/console/nodes'] as const),
  ...(['/console/devices', '/console/figures', '/console/gateways', '/console/sends'] as const),
  ...(['/console/providers', '/console/settings', '/console/upstreams'] as const),
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

const isBrotliTaken = (request: Request) =>
  /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(request.headers.get('accept-encoding') ?? '');

/** Makes the answer of a file. A name never gets other content. */
export function fileAnswer(name: string, packed: Blob) {
  const headers = {
    ...SAFE,
    'cache-control': 'public, max-age=31536000, immutable',
    'content-type': TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
    vary: 'accept-encoding',
  };
  return async (request: Request) => {
    if (isBrotliTaken(request)) {
      return new Response(packed, { headers: { ...headers, 'content-encoding': 'br' } });
    }
    return new Response(brotliDecompressSync(await packed.bytes()), { headers });
  };
}

/** The files that a browser needs at once, in the order of their use. */
interface Bundle {
  script: string;
  style: string;
  icon: string | undefined;
  /** The file of texts by language, and the file of each page by path. */
  texts: ReadonlyMap<string, string>;
  /** The file of the operator's texts by language. */
  operatorTexts: ReadonlyMap<string, string>;
  pages: ReadonlyMap<string, string>;
  /** The files that each file imports, directly or not. */
  imports: ReadonlyMap<string, readonly string[]>;
}

/** Reads the imports of the bundle; null: the page is not built. */
async function bundleOf(files: ConsoleFiles): Promise<Bundle | null> {
  const names = [...files.keys()];
  const fileName = (stem: string, end = 'js') =>
    names.find((name) => name.replace(/-\w+\.\w+$/, '') === stem && name.endsWith(`.${end}`));
  const direct = new Map<string, string[]>();
  for (const [name, packed] of files) {
    if (!name.endsWith('.js')) continue;
    const text = brotliDecompressSync(await packed.bytes()).toString();
    const found = [...text.matchAll(/\b(?:from|import)"\.\/([\w.-]+\.js)"/g)];
    direct.set(name, [...new Set(found.map(([, imported = '']) => imported))]);
  }
  const closure = (name: string, known = new Set<string>()): Set<string> => {
    for (const imported of direct.get(name) ?? []) {
      if (!known.has(imported)) closure(imported, known.add(imported));
    }
    return known;
  };
  const [script, style] = [fileName('app'), fileName('app', 'css')];
  if (script === undefined || style === undefined) return null;
  const entries = (all: readonly (readonly [string, string | undefined])[]) =>
    new Map(all.flatMap(([key, name]): [string, string][] => (name ? [[key, name]] : [])));
  const stemOf = (path: string) => path.split('/')[2] ?? 'overview';
  return {
    script,
    style,
    icon: fileName('mark', 'svg'),
    texts: entries(LANGUAGES.map((language) => [language, fileName(language)])),
    operatorTexts: entries(LANGUAGES.map((one) => [one, fileName(`operator-${one}`)])),
    pages: entries(PAGES.map((path) => [path, fileName(stemOf(path))])),
    imports: new Map([...direct.keys()].map((name) => [name, [...closure(name)]])),
  };
}

/** The content of the page until its script draws; with a session it has the sidebar. */
const BEFORE = '<div class="before"><div class="side-before"></div></div>';

interface PageDeps {
  connectionOf(request: Request): Connection;
  settings: { readonly consoleBanner: string | undefined };
}

/** Makes the answer of the page. */
export function pageAnswer(files: ConsoleFiles, { connectionOf, settings }: PageDeps) {
  let reading: Promise<Bundle | null> | null = null;
  return async (request: Request) => {
    if (siteOf(request, connectionOf(request)) === null) {
      return new Response(INSECURE, { status: 403, headers: SAFE });
    }
    reading ??= bundleOf(files);
    const bundle = await reading;
    const { language, theme } = lookOf(request);
    const textFile = bundle?.texts.get(language);
    if (!bundle || textFile === undefined) return new Response(NOT_BUILT, { status: 503 });
    const direction = language === 'fa' ? 'rtl' : 'ltr';
    const at = '/console/';
    const isSignedIn = tokenIn(request) !== null;
    const page = isSignedIn ? bundle.pages.get(new URL(request.url).pathname) : undefined;
    const early = [bundle.script, page].flatMap((name) =>
      name === undefined ? [] : [name, ...(bundle.imports.get(name) ?? [])],
    );
    const banner = settings.consoleBanner ?? '';
    const operatorFile = bundle.operatorTexts.get(language) ?? '';
    const dataset = `data-texts="${at}${textFile}" data-operator-texts="${at}${operatorFile}"`;
    const html = `<!doctype html>
<html lang="${language}" dir="${direction}" data-theme="${theme}" ${dataset}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatepost</title>
<link rel="icon" href="${at}${bundle.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${at}${bundle.style}">
${[...new Set([textFile, ...early])].map((name) => `<link rel="modulepreload" href="${at}${name}">`).join('\n')}
<script type="module" src="${at}${bundle.script}"></script>
</head>
<body>${banner && `<p class="banner">${Bun.escapeHTML(banner)}</p>`}<div id="app">${isSignedIn ? BEFORE : ''}</div></body>
</html>
`;
    return new Response(html, {
      headers: {
        ...SAFE,
        'cache-control': 'no-store',
        'content-type': 'text/html; charset=utf-8',
      },
    });
  };
}

/** Reads theme and language from the cookie, else from the browser's preferences. */
function lookOf({ headers }: Request): { theme: string; language: Language } {
  const [theme = '', chosen = ''] = (cookieIn(headers, LOOK) ?? '').split('.');
  const wanted = [chosen, ...languagesOf(headers).map((tag) => tag.slice(0, 2))];
  const language = wanted.find((one) => (LANGUAGES as readonly string[]).includes(one));
  return {
    theme: theme === 'dark' || theme === 'light' ? theme : 'auto',
    language: (language ?? 'en') as Language,
  };
}
