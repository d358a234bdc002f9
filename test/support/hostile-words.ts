/** The words of the generator of hostile requests, and those that are known to be refused. */

import { endpoints } from '../../src/http/endpoints/index.ts';

/**
 * `json`: HTTP 200 with the envelope. `plain`: the 404 of a path that is not the API's. `page`: the
 * page at the root. `either`: any of these, as dots and backslashes in the path are read. `race`:
 * it depends on whether the answer or the malformed rest of the request comes first. A number, or
 * `closed` without an answer: what Bun's HTTP parser says before any handler runs.
 */
export type Verdict = 'json' | 'plain' | 'page' | 'either' | 'race' | 400 | 431 | 505 | 'closed';

export const HOST = 'HTTP/1.1\r\nHost: localhost\r\n';
export const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/** Header sections from this many bytes on are too large for Bun, the request line included. */
const HEAD_BYTES_MAX = 16 * 1024;

export const ODD_VALUES: readonly string[] = [
  ...[
    '%',
    '%z',
    '%zz',
    '%u0041',
    '%c3%28',
    '%c0%ae',
    '%ed%a0%80',
    '%f5%80%80%80',
    '%ff',
    '\xff\xfe',
  ],
  ...['%00', 'a%00b', '%0d%0aSet-Cookie:x=1', '%0a', '%7f', '\x7f', '%e2%80%a8', '%f0%9f%98%80'],
  ...['-1', '+1', '%201', '1%20', '1e3', '0x10', '1.0', '01', '%d9%a1', '1_000', 'NaN', 'Infinity'],
  ...['0', '5', '10', '100', '101', '9007199254740993', '999999999999999', '99999999999999999999'],
  ...[
    "'%20OR%201=1--",
    '";DROP%20TABLE%20install;--',
    '{"$gt":""}',
    '[]',
    '{}',
    '<script>',
    '..%2f',
  ],
  ...[
    'null',
    'undefined',
    'true',
    '[object%20Object]',
    '',
    '=',
    '==',
    '?',
    '??/',
    '//',
    'a;b',
    'a#b',
  ],
];

export const ODD_NAMES: readonly string[] = [
  ...['__proto__', 'constructor', 'prototype', 'toString', '__proto__[rc]', 'id[]', 'id[0]'],
  ...[
    'id[a][b]',
    'id.a',
    'ID',
    'Install_Limit',
    '%69d',
    'id%00',
    'id+',
    '+id',
    '',
    '[',
    '%',
    '\xe9',
  ],
];

/** Methods that Bun's parser knows; only GET is any endpoint's. */
export const METHODS = [
  ...['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'MKCOL'],
  ...['PURGE', 'QUERY', 'SEARCH', 'REPORT', 'LOCK', 'COPY', 'LINK', 'M-SEARCH', 'SUBSCRIBE'],
];
export const UNKNOWN_METHODS = ['FOO', 'get', 'GETT', 'GE', 'BREW', 'X'.repeat(40)];

export const PATHS: readonly string[] = endpoints.map((endpoint) => endpoint.path);
export const OTHER_API_PATHS = [
  ...['/api', '/api/', '/api/nothing', '/api/list-install/', '/api/list-install/x', '/api/%00'],
  ...[
    '/api/%',
    '/api/%zz',
    '/api/\xff',
    '/api/%2e%2e%2fetc',
    '/api/;',
    '/api/a;b=c',
    '/api//list-install',
    '//api/list-install',
  ],
  ...[
    '/remote',
    '/remote/',
    '/remote/list',
    '/remote/__proto__',
    '/remote/%ff',
    '/api/constructor',
  ],
];
export const NOT_API_PATHS = ['/apix', '/API/list-install', '/%61pi/x', '/favicon.ico'];
/** Read literally these are under /api/ or not; read as paths the other way round. */
export const TRICK_PATHS = [
  ...['/x/../api/list-install', '/api/../x', '/api/./list-install', '/api/%2e%2e/x', '/./api/x'],
  ...['/api\\list-install', '/..\\api\\x', '/remote/../..', '/api/..%2fx', '/x/%2e%2e/api/y'],
];

export const ODD_HOSTS = [
  ...[
    'x',
    'a:1',
    '',
    'a b',
    'a/b',
    '[::1',
    '[::1]:80',
    'localhost:99999',
    'localhost:abc',
    '\xe9',
    '..',
  ],
  ...['%00', 'u@h', 'a,b', 'a?b', 'a#b', '/api/list-install', 'h'.repeat(300)],
];

export const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

/** Says how Bun's parser meets each of these, in its own words; nothing of ours has run then. */
export const REFUSED: readonly [
  kind: string,
  verdict: Verdict,
  request: (path: string) => string,
][] = [
  ['control character or blank in the target', 505, (p) => `GET ${p}?a=\0b ${HOST}\r\n`],
  ['control character or blank in the target', 505, (p) => `GET ${p}?a=\x01b ${HOST}\r\n`],
  ['control character or blank in the target', 505, (p) => `GET ${p}?note=two words ${HOST}\r\n`],
  ['version other than HTTP/1.0 and HTTP/1.1', 505, (p) => `GET ${p}\r\nHost: a\r\n\r\n`],
  ['version other than HTTP/1.0 and HTTP/1.1', 505, (p) => `GET ${p} HTTP/2.0\r\nHost: a\r\n\r\n`],
  ['version other than HTTP/1.0 and HTTP/1.1', 505, (p) => `GET ${p} http/1.1\r\nHost: a\r\n\r\n`],
  ['lines that do not end in CR LF', 505, (p) => `GET ${p} HTTP/1.1\nHost: a\n\n`],
  ['no Host in HTTP/1.1', 400, (p) => `GET ${p} HTTP/1.1\r\n\r\n`],
  ['target that is no path', 400, () => `GET * ${HOST}\r\n`],
  ['target that is no path', 400, (p) => `GET ${p.slice(1)} ${HOST}\r\n`],
  ['target that is no path', 400, (p) => `GET ftp://localhost${p} ${HOST}\r\n`],
  ['request that begins with something else', 400, (p) => `\r\nGET ${p} ${HOST}\r\n`],
  ['request that begins with something else', 400, () => '\x16\x03\x01\0\x05\x01\0\0\x01\0'],
  ['request that begins with something else', 400, () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['malformed header', 400, (p) => `GET ${p} ${HOST}no colon\r\n\r\n`],
  ['malformed header', 400, (p) => `GET ${p} ${HOST}X-A : b\r\n\r\n`],
  ['malformed header', 400, (p) => `GET ${p} ${HOST}: b\r\n\r\n`],
  ['malformed header', 400, (p) => `GET ${p} ${HOST}X(: b\r\n\r\n`],
  ['malformed header', 400, (p) => `GET ${p} ${HOST}X\xff: b\r\n\r\n`],
  ['malformed header', 400, (p) => `GET ${p} ${HOST}X-A: b\r\n folded\r\n\r\n`],
  ['control character in a header', 400, (p) => `GET ${p} ${HOST}X-A: b\0c\r\n\r\n`],
  ['control character in a header', 400, (p) => `GET ${p} ${HOST}X-A: b\nc: d\r\n\r\n`],
  ['control character in a header', 400, (p) => `GET ${p} HTTP/1.1\r\nHost: \x01\r\n\r\n`],
  ['malformed Content-Length', 400, (p) => `POST ${p} ${HOST}Content-Length: -1\r\n\r\n`],
  ['malformed Content-Length', 400, (p) => `POST ${p} ${HOST}Content-Length: 0x3\r\n\r\nabc`],
  ['malformed Content-Length', 400, (p) => `POST ${p} ${HOST}Content-Length: \r\n\r\n`],
  ['malformed Content-Length', 400, (p) => `GET ${p} ${HOST}Content-Length: 3, 3\r\n\r\nabc`],
  [
    'malformed Content-Length',
    400,
    (p) => `POST ${p} ${HOST}Content-Length: ${'9'.repeat(20)}\r\n\r\n`,
  ],
  [
    'contradictory lengths',
    400,
    (p) => `POST ${p} ${HOST}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
  ],
  [
    'contradictory lengths',
    400,
    (p) => `POST ${p} ${HOST}Content-Length: 3\r\n${CHUNKED}\r\n0\r\n\r\n`,
  ],
  [
    'Transfer-Encoding but chunked',
    400,
    (p) => `POST ${p} ${HOST}Transfer-Encoding: gzip\r\n\r\nabc`,
  ],
  ['Transfer-Encoding but chunked', 400, (p) => `GET ${p} HTTP/1.0\r\n${CHUNKED}\r\n0\r\n\r\n`],
  ['head beyond 16 KiB', 431, (p) => `GET ${p}?${'a'.repeat(HEAD_BYTES_MAX)} ${HOST}\r\n`],
  ['head beyond 16 KiB', 431, (p) => `GET ${p} ${HOST}X-A: ${'a'.repeat(HEAD_BYTES_MAX)}\r\n\r\n`],
  ['head beyond 16 KiB', 431, (p) => `GET ${p} ${HOST}${'X-A: b\r\n'.repeat(3000)}\r\n`],
  ['more than 100 headers', 431, (p) => `GET ${p} ${HOST}${'X-A: b\r\n'.repeat(200)}\r\n`],
];
