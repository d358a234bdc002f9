import type { MutatedFile } from '../mutation.ts';

export const commandLineFiles: readonly MutatedFile[] = [
  {
    file: 'src/cli/final-link.ts',
    tests: ['test/cli/link-qr.test.ts'],
    changes: [
      ["url.includes('?') ? '&' : '?'", "url.includes('?') ? '?' : '&'"],
      ['encodeURIComponent(title ?? new URL(url).hostname)', 'title ?? new URL(url).hostname'],
      ["happ: after('happ://add/', inFragment)", "happ: after('happ://add/', inQuery)"],
    ],
  },
  {
    file: 'src/cli/link-qr.ts',
    tests: ['test/cli/link-qr.test.ts'],
    changes: [
      ['if (columns < width) {', 'if (columns <= width) {'],
      ['Buffer.byteLength(link) > LINK_BYTES_MAX', 'Buffer.byteLength(link) < 0'],
      ['binding?.status === DOMAIN_ACTIVE', 'binding !== null'],
    ],
  },
  {
    file: 'src/cli/link-why.ts',
    tests: ['test/cli/link-why.test.ts'],
    changes: [
      ['if (door.device !== null) return steps;', ''],
      ['fromMs !== null && fromMs <= nowMs', 'fromMs !== null'],
      ['ends.filter((end) => end.hwid === hwid)', 'ends'],
    ],
  },
  {
    file: 'src/cli/link-name.ts',
    tests: ['test/cli/link.test.ts'],
    changes: [['if (others.length === 0) return found;', 'return found;']],
  },
  {
    file: 'src/cli/link-set.ts',
    tests: ['test/cli/link.test.ts', 'test/cli/error-codes.test.ts'],
    changes: [
      ["note === '' ? null : note", 'note'],
      ['key === false ? null : subscriptionKeyHash(key)', 'subscriptionKeyHash(String(key))'],
      ["if (typeof changed === 'string') throw refusal(REFUSALS[changed], installCode);", ''],
    ],
  },
  {
    file: 'src/cli/policy.ts',
    tests: ['test/cli/link.test.ts', 'test/cli/provider.test.ts'],
    changes: [
      ["(value === 'default' ? null : value)", 'value as T'],
      ["if (own[field] !== null) return '';", ''],
    ],
  },
  {
    file: 'src/store/noun/link.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ['i.device_count >= i.install_limit', 'i.device_count > i.install_limit'],
      ['row.hasSubscriptionKey === 1', 'row.hasSubscriptionKey === 0'],
      ['ORDER BY e.id DESC', 'ORDER BY e.id'],
      ["i.status = ${value('status')})", 'true)'],
      ['(providerCode === null ? on.ofAll : on.ofOne)', 'on.ofAll'],
    ],
  },
];
