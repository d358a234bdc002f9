import type { MutatedFile } from '../mutation.ts';

/** Events: told if, and only if, the change was made, to who wants to know, and within bounds. */
export const events: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/event-notes.ts',
    tests: [
      ...['test/store/event-notes.test.ts', 'test/jobs/notice.test.ts'],
      'test/store/contract/event.test.ts',
    ],
    changes: [
      ['WHERE w.disabled_at_ms IS NULL`', 'WHERE true`'],
      ['disabledCount;\n    this.forgetWebhooks();', 'disabledCount;'],
      ['      webhook.waitingCount += 1;\n', ''],
      ['if (phone && !noteRefusal(', 'if (false && !noteRefusal('],
      ["(target === 'telegram') === isOfPhone", 'true'],
      ['(yield* foldOf(webhook)).events += 1', 'void webhook'],
      ['    this.#onPut();\n', ''],
      ['if (disabled === null) return;', 'if (disabled === null) throw new Error();'],
      ['providerId, why });\n    this.forgetWebhooks();', 'providerId, why });'],
      [
        'if (this.#byOwner.get(owner)?.length === 0) return;',
        'if (this.#byOwner.has(owner)) return;',
      ],
    ],
  },
  {
    file: 'src/store/noun/notes.ts',
    tests: [
      'test/store/event-notes.test.ts',
      'test/store/figure-counter.test.ts',
      'test/store/audit-rollback.test.ts',
      'test/store/distribution-end.test.ts',
    ],
    changes: [
      ['if (this.#putCount > 0) onOutbox', 'onOutbox'],
      ['    this.#putCount = 0;\n', ''],
      ['    this.#putCount = puts;\n', ''],
      ['    this.#figures.length = figures;\n', ''],
      ['    this.#endStatuses.length = ends;\n', ''],
      ['    this.#audit.trim(entries);\n', ''],
      ['    this.#figures = [];\n    this.#endStatuses', '    this.#endStatuses'],
      ['    if (isSaved) {', '    {'],
    ],
  },
  {
    file: 'src/core/event/wanted.ts',
    tests: ['test/core/event/wanted.test.ts'],
    changes: [
      ['isFolding && waitingCount', 'waitingCount'],
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
    tests: [
      ...['test/core/event/notice.test.ts', 'test/jobs/notice.test.ts'],
      'test/backup/told.test.ts',
    ],
    changes: [
      ['nowMs < activeUntilMs', 'nowMs <= activeUntilMs'],
      ['nowMs >= endsAtMs - before', 'nowMs > endsAtMs - before'],
      ['Math.min(...reached)', 'Math.max(...reached)'],
      ['freeBytes >= DISK_LOW_BYTES', 'freeBytes > DISK_LOW_BYTES'],
      ['Math.max(0, Math.ceil(', 'Math.max(1, Math.ceil('],
      ['const REMINDER_MS = 7 * DAY_MS', 'const REMINDER_MS = DAY_MS'],
      ['`${follows}over`, follows,', '`${follows}over`,'],
    ],
  },
  {
    file: 'src/jobs/notice.ts',
    tests: ['test/jobs/notice.test.ts'],
    changes: [['Math.max(0, ...days)', 'Math.min(...days)']],
  },
  {
    file: 'src/store/noun/event.ts',
    tests: ['test/store/contract/event.test.ts'],
    changes: [
      ['o.event_id = e.id AND w.disabled_at_ms IS NULL', 'o.event_id = e.id'],
      ['e.id <= :lastId', 'e.id < :lastId'],
    ],
  },
];
