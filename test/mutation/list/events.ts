import type { MutatedFile } from '../mutation.ts';

/** Events: told if, and only if, the change was made, to who wants to know, and within bounds. */
export const events: readonly MutatedFile[] = [
  {
    file: 'src/store/sqlite/event-trail.ts',
    tests: ['test/store/event-trail.test.ts', 'test/jobs/notice.test.ts'],
    changes: [
      ['AND w.disabled_at_ms IS NULL\n', '\n'],
      ['  undo(): void {\n    this.forgetWebhooks();', '  undo(): void {'],
      ['  clear(): void {\n    this.forgetWebhooks();', '  clear(): void {'],
      ['        webhook.waitingCount += 1;\n', ''],
      ['      this.#outbox.raise();\n', ''],
      ['if (known === null) return;', 'if (known === null) throw new Error();'],
      [
        '    this.#on.disable.run({ id, why, atMs });\n    this.forgetWebhooks();',
        '    this.#on.disable.run({ id, why, atMs });',
      ],
    ],
  },
  {
    file: 'src/store/sqlite/outbox-signal.ts',
    tests: ['test/store/event-trail.test.ts'],
    changes: [
      ['if (isSaved && isPut)', 'if (isPut)'],
      ['    this.#putCount = 0;\n', ''],
    ],
  },
  {
    file: 'src/core/event/wanted.ts',
    tests: ['test/core/event/wanted.test.ts'],
    changes: [
      ['waitingCount < WAITING_COUNT_MAX', 'waitingCount <= WAITING_COUNT_MAX'],
      ['kinds.length === 0 || ', ''],
      ['!wantsKind(webhook.kinds, kind)', 'wantsKind(webhook.kinds, kind)'],
    ],
  },
  {
    file: 'src/core/event/quota.ts',
    tests: ['test/core/event/quota.test.ts'],
    changes: [
      ['used * 100 < limit * percent', 'used * 100 <= limit * percent'],
      ['before - SLACK', 'before'],
      ['level < before && ', ''],
    ],
  },
  {
    file: 'src/core/event/notice.ts',
    tests: ['test/core/event/notice.test.ts', 'test/jobs/notice.test.ts'],
    changes: [
      ['nowMs < activeUntilMs', 'nowMs <= activeUntilMs'],
      ['nowMs >= endsAtMs - before', 'nowMs > endsAtMs - before'],
      ['Math.min(...reached)', 'Math.max(...reached)'],
      ['freeBytes >= DISK_LOW_BYTES', 'freeBytes > DISK_LOW_BYTES'],
      ['Math.max(0, Math.ceil(', 'Math.max(1, Math.ceil('],
    ],
  },
  {
    file: 'src/jobs/notice.ts',
    tests: ['test/jobs/notice.test.ts'],
    changes: [['Math.max(0, ...days)', 'Math.min(...days)']],
  },
  {
    file: 'src/store/sqlite/event.ts',
    tests: ['test/store/contract/event.test.ts'],
    changes: [
      ['if (isTold() || !events.isWanted(providerId, kind)) return false;', ''],
      ['o.event_id = e.id AND w.disabled_at_ms IS NULL', 'o.event_id = e.id'],
      ["e.id <= ${value('lastId')}", "e.id < ${value('lastId')}"],
      ['if (isOver === 1) on.forget', 'on.forget'],
    ],
  },
  {
    file: 'src/store/sqlite/figure-trail.ts',
    tests: ['test/store/contract/provider.test.ts'],
    changes: [
      ['WHEN excluded.day > day THEN excluded.day_count', 'WHEN excluded.day > day THEN day_count'],
    ],
  },
];
