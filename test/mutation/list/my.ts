import type { MutatedFile } from '../mutation.ts';

const TOKENS = 'test/http/upstream/tokens.test.ts';
const PAGE = 'test/http/my.test.ts';
const NEWS = 'test/http/my-news.test.ts';

/** The page of users: who opens it, what it frees and what it keeps to itself. */
export const myFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/my.ts',
    tests: [PAGE, TOKENS],
    changes: [
      ['|| !named.isProven) return null', ') return null'],
      ['purpose, link.installId, link.installCode, subject', 'purpose, subject'],
      ['until < minute || ', ''],
      ["refused.filter(({ hwid }) => hwid !== '')", 'refused.filter(() => false)'],
      ['NAMED.exec(text)?.[1] ?? text', 'text'],
    ],
  },
  {
    file: 'src/http/my/door.ts',
    tests: [PAGE, NEWS, TOKENS],
    changes: [
      [
        'return { keyPaths, key, secret: secretOf(keySecretFile), ',
        'return { keyPaths, key, secret: null, ',
      ],
      ["myPath === '' ? null : ", ''],
      ["method === 'POST' && isForeign(request)", 'false'],
      ['    isGuess: true,\n', ''],
      ["if (method === 'GET' || method === 'HEAD')", "if (method !== 'POST')"],
    ],
  },
  {
    file: 'src/http/my/reply.ts',
    tests: [PAGE],
    changes: [
      ["  'cache-control': 'no-store',\n", ''],
      ["  'referrer-policy': 'no-referrer',\n", ''],
    ],
  },
  {
    file: 'src/http/my/view.ts',
    tests: [PAGE],
    changes: [
      ['places.slice(from, from + PLACES_EACH)', 'places'],
      ['const mayFree = view.nowMs >= freeFromMs;', 'const mayFree = true;'],
    ],
  },
  {
    file: 'src/http/my/address.ts',
    tests: ['test/http/my-doors.test.ts'],
    changes: [
      [
        " || myPath === '' || origin === '') return null;\n  const { hwid",
        ') return null;\n  const { hwid',
      ],
      ['!hasMy(provider, nowMs)', 'false'],
    ],
  },
  {
    file: 'src/http/my/address.ts',
    tests: ['test/http/my-address.test.ts'],
    changes: [
      ['isTrusted && headers', 'headers'],
      [".replaceAll('%2F', '/')", ''],
      ["target.split('?', 1)[0] ?? ''", 'target'],
    ],
  },
  {
    file: 'src/http/my/news.ts',
    tests: [NEWS],
    changes: [
      ['if (isAll) await core.store', 'if (isAll && false) await core.store'],
      ["'Secure', 'HttpOnly', 'SameSite=Strict'", "'Secure'"],
      [' && origin.host.length <= HOST_LENGTH_MAX', ''],
      ['own?.installId === link.installId', 'own !== null'],
      ["state === 'received' || state === 'opened'", 'true'],
      ["token === '' ? 0 : COOKIE_AGE_S", 'COOKIE_AGE_S'],
    ],
  },
  {
    file: 'src/store/noun/browser.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ["if (others.length >= countMax) return 'browser_limit_reached';", ''],
      ['if (held) yield* untie(notes, [held.deviceId]);', ''],
      ['tied && tied.installId === installId ? [tied]', 'tied ? [tied]'],
    ],
  },
  {
    file: 'src/store/noun/my.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ['i.status = ${INSTALL_ACTIVE} AND o.my = 1 AND o.suspended_at_ms IS NULL', 'o.my = 1'],
      ['backend.leastMs(act.atMs) < freeFromMs(linkOf(row))', 'false'],
      ['          AND s.registered_at_ms = :registeredAtMs', ''],
    ],
  },
];
