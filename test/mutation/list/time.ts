import type { MutatedFile } from '../mutation.ts';

/** Leaps of the clock. */
export const timeFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/leap.ts',
    tests: ['test/core/leap.test.ts'],
    changes: [
      ['leadMs >= -START_BACK_MS && leadMs <= PAUSE_MAX_MS', 'leadMs <= PAUSE_MAX_MS'],
      ['Math.max(-mostMs, Math.min(mostMs, leadMs))', 'leadMs'],
      ['state.ranMs - leap.sinceRanMs >= LEAP_LASTS_MS', 'false'],
      ['suspendedMs(state) < SUSPENDED_MAX_MS', 'true'],
      ['leap.leadMs - leadMs > LEAP_MS', 'true'],
      ['{ ...kept.leap, leadMs, slackMs }', 'kept.leap'],
    ],
  },
  {
    file: 'src/core/timekeeper.ts',
    tests: ['test/core/timekeeper.test.ts', 'test/jobs/leap.test.ts', 'test/http/leap.test.ts'],
    changes: [
      ['isLeap ? Math.max(wallMs, atMs) : wallMs', 'wallMs'],
      ['isLeap ? Math.min(atMs, now.wallMs, now.atMs) : atMs', 'atMs'],
      ['isHeld ? 0 : Math.min(wallMs, atMs)', 'isHeld ? 0 : wallMs'],
      [' || Math.abs(wallMs - atMs) > LEAP_MS', ''],
      ["if (change !== 'leapt') this.#mustCut = true;", ''],
      ['name: this.name }', '}'],
    ],
  },
  {
    file: 'src/store/noun/time.ts',
    tests: ['test/store/contract/node.test.ts', 'test/store/future-cuts.test.ts'],
    changes: [
      ['atMs: atMs + (leap?.leadMs ?? 0)', 'atMs'],
      ['if ((known?.leap ?? null) !== textOf(before)) return false;', ''],
      ['if (known === null) yield* on.forget.run();', ''],
      ['[...shifts, ', '['],
      ['latestMs: nowMs + aheadMs', 'latestMs: nowMs'],
      [" AND (${sql.raw(cut.only ?? '1 = 1')})", ''],
    ],
  },
  {
    file: 'src/core/audit/prune.ts',
    tests: ['test/core/audit/prune.test.ts', 'test/jobs/leap.test.ts'],
    changes: [
      ['block.atMs <= nowMs && !isOld(block, at)', '!isOld(block, at)'],
      ['block.number <= most && isOld(block, at)', 'block.number <= most'],
    ],
  },
  {
    file: 'src/jobs/keep.ts',
    tests: ['test/jobs/leap.test.ts'],
    changes: [['const atMs = core.leastMs(nowMs);', 'const atMs = nowMs;']],
  },
  {
    file: 'src/core/message/cancel.ts',
    tests: ['test/jobs/leap.test.ts'],
    changes: [['core.leastMs(nowMs)', 'nowMs']],
  },
  {
    file: 'src/jobs/outbox/run.ts',
    tests: ['test/jobs/outbox-leap.test.ts'],
    changes: [
      ['result.expiresAtMs && result.expiresAtMs + aheadMs', 'result.expiresAtMs'],
      ['queuedAtMs: dispatch.queuedAtMs + aheadMs', 'queuedAtMs: dispatch.queuedAtMs'],
    ],
  },
  {
    file: 'src/store/noun/lane.ts',
    tests: ['test/jobs/leap.test.ts'],
    changes: [['dueByMs: backend.leastMs(begunMs)', 'dueByMs: begunMs']],
  },
  {
    file: 'src/store/noun/slot.ts',
    tests: ['test/http/leap.test.ts'],
    changes: [['judge(door, backend.leastMs(nowMs))', 'judge(door, nowMs)']],
  },
  {
    file: 'src/store/noun/home.ts',
    tests: ['test/http/leap.test.ts'],
    changes: [['leastMs(nowMs)', 'nowMs']],
  },
  {
    file: 'src/store/noun/registration.ts',
    tests: ['test/http/leap.test.ts'],
    changes: [
      ['judgeAtDoor(door, backend.leastMs(nowMs))', 'judgeAtDoor(door, nowMs)'],
      ['const ageMs = backend.leastMs(nowMs);', 'const ageMs = nowMs;'],
    ],
  },
];
