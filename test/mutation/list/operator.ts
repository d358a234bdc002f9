import type { MutatedFile } from '../mutation.ts';

/** The operator's pages. */
export const operatorFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/provider-terms.ts',
    tests: ['test/http/console/operator-providers.test.ts'],
    changes: [
      ["name === '' ? malformed('must not be blank') : name", 'name'],
      ['(known.suspendedAtMs ?? nowMs)', 'nowMs'],
      ['.toLowerCase().includes(wanted)', '.includes(wanted)'],
      ['hours * HOUR_MS', 'HOUR_MS'],
    ],
  },
  {
    file: 'src/http/console/visits.ts',
    tests: ['test/http/console/operator-providers.test.ts'],
    changes: [
      ['if (this.#known.has(visit)) return;', ''],
      ['if (signedIn.grants.some(({ providerId }) => providerId === provider.id)) return;', ''],
    ],
  },
  {
    file: 'src/store/noun/audit.ts',
    tests: ['test/store/contract/audit.test.ts'],
    changes: [['notes.audit(act, deeds.visitProvider(), providerId);', '']],
  },
  {
    file: 'src/console/pages/operator/providers.tsx',
    tests: ['test/console/operator.test.ts'],
    changes: [["go('/console', { at: code })", "go('/console', { at: null })"]],
  },
  {
    file: 'src/console/pages/here.ts',
    tests: ['test/console/operator.test.ts'],
    changes: [['isOfIt === isAtAppliance() && may(needs)', 'may(needs)']],
  },
];
