import type { MutatedFile } from '../mutation.ts';

const PAGE = 'test/http/my.test.ts';

/** The page of users: who opens it, what it frees and what it keeps to itself. */
export const myFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/my.ts',
    tests: [PAGE],
    changes: [
      ["['my', purpose, link.installId,", "['my', link.installId,"],
      ['until < minute || ', ''],
      [' || until > minute + REFERENCE_MINUTES', ''],
      ["refused.filter(({ hwid }) => hwid !== '')", 'refused.filter(() => false)'],
      ['NAMED.exec(text)?.[1] ?? text', 'text'],
    ],
  },
  {
    file: 'src/http/my/door.ts',
    tests: [PAGE],
    changes: [
      ["myPath === '' || ", ''],
      ['    isGuess: true,\n', ''],
      ["method === 'GET' || method === 'HEAD'", "method !== 'POST'"],
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
      ['!hasPages(provider, nowMs)', 'false'],
    ],
  },
  {
    file: 'src/store/noun/my.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ['i.status = ${INSTALL_ACTIVE} AND o.my = 1 AND o.suspended_at_ms IS NULL', 'o.my = 1'],
      ["if (act.atMs < freeFromMs(linkOf(row))) return 'cooling_down';", ''],
      ["          AND s.registered_at_ms = ${value('registeredAtMs')}", ''],
    ],
  },
];
