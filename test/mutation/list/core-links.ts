import type { MutatedFile } from '../mutation.ts';

export const coreLinks: readonly MutatedFile[] = [
  {
    file: 'src/core/message/url.ts',
    tests: ['test/core/message/html.test.ts', 'test/core/message/command.test.ts'],
    changes: [
      [
        `if (scheme === '' || isHostAndPort || DENIED_SCHEMES.has(scheme.toLowerCase())) return false;`,
        '',
      ],
      [
        `if (scheme === '' || isHostAndPort || DENIED_SCHEMES.has(scheme.toLowerCase())) return false;`,
        `if (scheme === '' && isHostAndPort || DENIED_SCHEMES.has(scheme.toLowerCase())) return false;`,
      ],
      [
        'if (value.length > URL_LENGTH_MAX) return false;',
        'if (value.length >= URL_LENGTH_MAX) return false;',
      ],
    ],
  },
  {
    file: 'src/core/message/device-input.ts',
    tests: ['test/core/message/device-input.test.ts'],
    changes: [
      [
        `if (isRefused(hwid)) return new Refused('hwid_required');`,
        `if (!isRefused(hwid)) return new Refused('hwid_required');`,
      ],
      ["text[snakeCase(fact)] ?? ''", "text[fact] ?? ''"],
      ["locale: text['locale'] ?? null", 'locale: null'],
      ['value.length > ACK_COUNT_MAX', 'false'],
      ['tidyFact(detail, ACK_DETAIL_LENGTH_MAX)', 'detail'],
    ],
  },
  {
    file: 'src/core/audit/chain.ts',
    tests: ['test/core/audit/chain.test.ts', 'test/core/audit/forged.test.ts'],
    changes: [
      [
        `if (!Array.isArray(list) || !list.every(isEntry)) throw new SyntaxError('not a list of entries');`,
        `if (Array.isArray(list) || !list.every(isEntry)) throw new SyntaxError('not a list of entries');`,
      ],
      [
        'return list.map((entry, i) => ({ number: number - list.length + 1 + i, ...entry }));',
        'return list.map((entry, i) => ({ number: number - list.length - 1 + i, ...entry }));',
      ],
      [
        `return isRecord(value) && typeof value['at'] === 'string' && isRecord(value['object']);`,
        `return isRecord(value) && typeof value['at'] !== 'string' && isRecord(value['object']);`,
      ],
      [
        'if (last === undefined || !Number.isSafeInteger(last.number)) return found;',
        'if (last === undefined && !Number.isSafeInteger(last.number)) return found;',
      ],
    ],
  },
  {
    file: 'src/core/job/job.ts',
    tests: ['test/core/job.test.ts'],
    changes: [['await nextTurn();', '']],
  },
];
