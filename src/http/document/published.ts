/** The published texts: the OpenAPI document, its page, and the page at `/`. */

import { acceptsCoding } from '../request/coding.ts';
import { renderDocsPage } from './docs-page.ts';
import { SEARCH } from './docs-search.ts';
import { STYLE } from './docs-style.ts';
import { LANDING_PAGE, LANDING_STYLE, PLAIN_PAGE } from './landing-page.ts';
import { openApiDocument } from './openapi.ts';

interface Published {
  type: string;
  /** The content security policy. */
  policy: string;
  /** `Vary`; by default it depends on the encoding alone. */
  vary?: string;
  write(): string;
}

const hashOf = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('base64');

const NO_OTHER_PAGE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const CLOSED = `default-src 'none'; ${NO_OTHER_PAGE}`;

/** Browsers ask for HTML by its name and get another page. */
const VARY = 'accept, accept-encoding';

/** The texts by path. The page contains its style and its search, and loads nothing. */
const PUBLISHED: Readonly<Record<string, Published>> = {
  '/': {
    type: 'text/html; charset=utf-8',
    policy: CLOSED,
    vary: VARY,
    write: () => PLAIN_PAGE,
  },
  '/openapi.json': {
    type: 'application/json',
    policy: CLOSED,
    write: () => JSON.stringify(openApiDocument()),
  },
  '/docs': {
    type: 'text/html; charset=utf-8',
    policy: `default-src 'none'; style-src 'sha256-${hashOf(STYLE)}'; script-src 'sha256-${hashOf(SEARCH)}'; ${NO_OTHER_PAGE}`,
    write: () => renderDocsPage(openApiDocument()),
  },
};

/** The page at `/` for browsers, which ask for HTML by name. */
const FOR_BROWSERS: Published = {
  type: 'text/html; charset=utf-8',
  policy: `default-src 'none'; style-src 'sha256-${hashOf(LANDING_STYLE)}'; ${NO_OTHER_PAGE}`,
  vary: VARY,
  write: () => LANDING_PAGE,
};

/** Returns the handlers of the published texts. Each text is made at its first request. */
export function publishedAnswers(): [path: string, answer: (request: Request) => Response][] {
  const browsers = publish(FOR_BROWSERS);
  return Object.entries(PUBLISHED).map(([path, text]) => {
    const answer = publish(text);
    const isForBrowser = ({ headers }: Request) =>
      path === '/' && (headers.get('accept') ?? '').includes('text/html');
    return [path, (request) => (isForBrowser(request) ? browsers : answer)(request)];
  });
}

function publish({
  policy,
  type,
  vary = 'accept-encoding',
  write,
}: Published): (request: Request) => Response {
  let made: { plain: Blob; gzipped: Blob; tag: string };
  const make = () => {
    const text = write();
    const plain = new TextEncoder().encode(text);
    // Bun copies bytes for each unread answer; all answers share a Blob.
    return {
      plain: new Blob([plain]),
      gzipped: new Blob([Bun.gzipSync(plain)]),
      tag: `W/"${hashOf(text)}"`,
    };
  };
  return ({ headers: requestHeaders, method }) => {
    if (method !== 'GET' && method !== 'HEAD') {
      return new Response('Only GET and HEAD\n', { status: 405, headers: { allow: 'GET, HEAD' } });
    }
    made ??= make();
    const headers: Record<string, string> = {
      'content-type': type,
      // Revalidated at each use, so that an upgrade shows at once.
      'cache-control': 'no-cache',
      'content-security-policy': policy,
      etag: made.tag,
      'referrer-policy': 'no-referrer',
      vary,
      'x-content-type-options': 'nosniff',
    };
    if (isKnown(requestHeaders.get('if-none-match'), made.tag)) {
      return new Response(null, { status: 304, headers });
    }
    const isGzipped = acceptsCoding(requestHeaders.get('accept-encoding'), 'gzip');
    if (isGzipped) headers['content-encoding'] = 'gzip';
    return new Response(isGzipped ? made.gzipped : made.plain, { headers });
  };
}

/** Compares tags by weak comparison: RFC 9110, section 13.1.2. */
function isKnown(tags: string | null, tag: string): boolean {
  if (tags === null) return false;
  const strong = (candidate: string) => candidate.trim().replace(/^W\//, '');
  return tags.trim() === '*' || tags.split(',').some((known) => strong(known) === strong(tag));
}
