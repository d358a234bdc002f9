import type { MutatedFile } from '../mutation.ts';

/** Domains, keys, staff and webhooks in the console. */
export const roomFiles: readonly MutatedFile[] = [
  {
    file: 'src/console/parts/host.ts',
    tests: ['test/console/rooms.test.ts'],
    changes: [['/^[a-z][a-z0-9+.-]*:\\/\\//i.test(text) ? text : ', '']],
  },
  {
    file: 'src/console/parts/curl-text.ts',
    tests: ['test/console/curl.test.ts'],
    changes: [
      ['text.replaceAll("\'", "\'\\\\\'\'")', 'text'],
      ["value === null || value === ''", 'value === null'],
    ],
  },
  {
    file: 'src/http/console/domain-calls.ts',
    tests: ['test/console/rooms.test.ts'],
    changes: [['status === DOMAIN_ACTIVE', 'status !== DOMAIN_ACTIVE']],
  },
];
