import type { Act } from '../../src/core/port/audit.ts';

/** An act of an operator, for tests that are about something else. */
export const ACT: Act = {
  actor: { kind: 'operator', name: 'tester', from: 'local' },
  atMs: Date.UTC(2026, 10, 20, 12),
};
