import type { Act } from '../../src/core/port/audit.ts';

/** An act of an operator, for tests that are about something else. */
export const ACT: Act = {
  actor: { kind: 'operator', name: 'tester', from: 'local' },
  atMs: Date.UTC(2026, 10, 20, 12),
};

/** An act by the key of a provider. */
export const actOfKey = (code: string, atMs = ACT.atMs): Act => ({
  actor: { kind: 'provider', name: code, key: 'a1b2c3d4', from: '192.0.2.1' },
  atMs,
});
