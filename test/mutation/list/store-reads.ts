import type { MutatedFile } from '../mutation.ts';

export const storeReads: readonly MutatedFile[] = [
  {
    file: 'src/store/sqlite/audit-chain.ts',
    tests: ['test/store/contract/audit.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      [
        'FROM audit ORDER BY last_number DESC LIMIT 1`',
        'FROM audit ORDER BY last_number ASC LIMIT 1`',
      ],
    ],
  },
  {
    file: 'src/store/noun/audit-notes.ts',
    tests: ['test/core/audit/listed.test.ts', 'test/store/contract/audit.test.ts'],
    changes: [
      [`providerId: actor.kind === 'provider' ? null : providerId`, `providerId: null`],
      ['if (counted.listed !== null) listed', 'if (counted.listed === null) listed'],
      ['return ofRecord ?? actor.staffOf ?? null;', 'return ofRecord ?? null;'],
      ['this.mayRefuse ||= isAlone(deed) && isBounded(actor);', ''],
      ['tallies.set(code, countAlone(', 'void (countAlone('],
    ],
  },
  {
    file: 'src/store/noun/audit.ts',
    tests: ['test/store/contract/audit.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      ['notes.audit(act, deeds.pruneAudit(anchor, last));', ''],
      ['last_number < :number', 'last_number <= :number'],
      ['return !isAll;', 'return isAll;'],
      [' OR p.change_day_count < :dayCountMax)', ')'],
      ['f.from_ms <= :beforeMs OR f', 'f'],
    ],
  },
  {
    file: 'src/store/noun/webhook.ts',
    tests: [
      'test/store/contract/event.test.ts',
      'test/http/webhook-again.test.ts',
      'test/store/sqlite.test.ts',
    ],
    changes: [
      ['if (count >= countMax) return', 'if (count > countMax) return'],
      ['      notes.outbox();\n    }\n    notes.forget', '    }\n    notes.forget'],
      ['    notes.audit(act, deeds.updateWebhook(before, after), providerId);\n', ''],
      ['      await empty(id);\n', ''],
      [
        'previous_until_ms <= :nowMs\n        ORDER BY id',
        'previous_until_ms > 0\n        ORDER BY id',
      ],
    ],
  },
  {
    file: 'src/store/noun/webhook-delivery.ts',
    tests: [
      'test/store/webhook-room.test.ts',
      'test/store/contract/event.test.ts',
      'test/http/coverage/webhook.test.ts',
    ],
    changes: [
      [
        'o.next_at_ms AS "stateAtMs", o.problem AS problem',
        'o.queued_at_ms AS "stateAtMs", NULL AS problem',
      ],
      ['if (eventIds.length >= room) return', 'if (eventIds.length > room) return'],
      ['if (isWaiting === 0) eventIds', 'eventIds'],
      ['    if (!isWanted) continue;\n', ''],
      ['o.event_id < :beforeId', 'o.event_id <= :beforeId'],
    ],
  },
  {
    file: 'src/store/sqlite/connection.ts',
    tests: [
      'test/store/connection.test.ts',
      'test/store/shared-query.test.ts',
      'test/store/writer-fault.test.ts',
    ],
    changes: [
      [`this.#begin = this.compile('BEGIN');`, ''],
      ['if (this.#isCurrent) return;', ''],
      ['    this.version();\n', ''],
      ['this.#isCurrent = false;\n    if (this.#index === null) {', 'if (this.#index === null) {'],
      ['this.#index?.note();', ''],
      ['this.#version += 1;', ''],
      ['      setImmediate(this.#endTurn);\n', ''],
      [
        `if (!this.#isReading) return;
    this.#isReading = false;`,
        `if (this.#isReading) return;
    this.#isReading = false;`,
      ],
      [
        `if (!this.native.inTransaction) return;
    try {
      this.#end.run();`,
        `if (this.native.inTransaction) return;
    try {
      this.#end.run();`,
      ],
    ],
  },
  {
    file: 'src/store/sqlite/answer-cache.ts',
    tests: ['test/store/connection.test.ts'],
    changes: [
      ['if (version !== this.#version) this.#answers.clear();', ''],
      ['this.#answers.set(key, answer);', ''],
      ['if (this.#answers.size >= ANSWER_COUNT_MAX) this.#answers.clear();', ''],
    ],
  },
  {
    file: 'src/store/sqlite/wal-index.ts',
    tests: ['test/store/connection.test.ts'],
    changes: [
      [' || live[HEADER_WORDS + word] !== known', ''],
      ['live[word] !== known || ', ''],
      ['word < HEADER_WORDS; word++', 'word < 2; word++'],
    ],
  },
  {
    file: 'src/store/noun/domain.ts',
    tests: ['test/store/contract/link.test.ts', 'test/http/coverage'],
    changes: [
      ['ORDER BY domain.id DESC LIMIT', 'ORDER BY domain.id ASC LIMIT'],
      [`if (bound !== null) return { outcome: 'exists', id: bound.id };`, ''],
      ['if (id !== null) return id < bound', 'if (id !== null) return id <= bound'],
    ],
  },
  {
    file: 'src/store/noun/export.ts',
    tests: ['test/store/contract/move.test.ts', 'test/cli/export.test.ts'],
    changes: [
      ['AND id > :afterId', 'AND id >= :afterId'],
      ['afterId = last.id;', 'afterId = last.id + 1;'],
      ['replacedAtMs !== null && { replacedAtMs }', 'false'],
      ['ORDER BY s.install_id, s.id', 'ORDER BY s.install_id, s.id DESC'],
    ],
  },
  {
    file: 'src/store/noun/look-ups.ts',
    tests: ['test/store/contract/move.test.ts', 'test/cli/export.test.ts'],
    changes: [
      [
        'ON p.device_id = s.device_id AND p.provider_id = s.provider_id',
        'ON p.device_id = s.device_id ',
      ],
    ],
  },
  {
    file: 'src/store/sqlite/health.ts',
    tests: ['test/store/sqlite.test.ts'],
    changes: [['touch.run();', '']],
  },
  {
    file: 'src/store/noun/queue.ts',
    tests: ['test/store/contract/node.test.ts'],
    changes: [
      [
        'coalesce(sum(recipient_count - sent_count - failed_count)',
        'coalesce(sum(recipient_count - sent_count + failed_count)',
      ],
      ['facts.scheduledCount += found.scheduledCount;', ''],
      ['isInGroup = end !== null;', 'isInGroup = false;'],
      ['if (end === null && !isInGroup)', 'if (end === null)'],
    ],
  },
  {
    file: 'src/store/noun/import.ts',
    tests: [
      'test/store/contract/move.test.ts',
      'test/cli/import.test.ts',
      'test/store/contract/audit.test.ts',
      'test/http/without-hwid.test.ts',
    ],
    changes: [
      [`if (known.providerId !== providerId) return 'install_code_exists';`, ''],
      ['notes.audit(act, deeds.importDomain(null, { ...facts, ...added }), providerId);', ''],
      ['const room = Math.max(facts.installLimit, overMax);', 'const room = facts.installLimit;'],
      [
        'if (replacedAtMs !== undefined) yield* on.replaced.run({ id: installId, replacedAtMs });',
        '',
      ],
      ['id: isFree ? id : null });\n    if', 'id });\n    if'],
      [`if (endedKey !== null) return 'install_code_ended';`, ''],
    ],
  },
  {
    file: 'src/store/noun/import-slot.ts',
    tests: [
      'test/store/contract/move.test.ts',
      'test/cli/import.test.ts',
      'test/store/contract/audit.test.ts',
      'test/http/without-hwid.test.ts',
    ],
    changes: [
      ['ORDER BY s.registered_at_ms, s.id LIMIT 1', 'ORDER BY s.id LIMIT 1'],
      ['(isByHash ? hwidHash(hwid) : hwid)', 'hwid'],
      ['if (hashed.length > 0) {', 'if (false) {'],
      ['AND p.home_left_at_ms IS NULL AND p.home_moved_at_ms = 0', ''],
      ['isSharedHwid(slot.hwid) ? {', 'false ? {'],
      ['Math.max(beforeMs ?? 0, lastSeenAtMs)', 'lastSeenAtMs'],
      ['mergeFacts(moved, known)', 'mergeFacts(known, moved)'],
      ['slotsWithoutRoom: missing.length - added.length', 'slotsWithoutRoom: 0'],
    ],
  },
  {
    file: 'src/store/noun/panel-link.ts',
    tests: ['test/store/contract/move.test.ts'],
    changes: [
      ['filter(({ registeredAtMs }) => registeredAtMs > untilMs)', 'filter(() => true)'],
      ['registeredAtMs < leftMs ?', 'true ?'],
      ['return panelIn(panelUser) !== panelIn(wanted);', 'return true;'],
      ['panelUser === wanted || panelUser === former', 'panelUser === wanted'],
      ['keepsStatus ? keptStatus(known, before) : terms.status', 'terms.status'],
    ],
  },
  {
    file: 'src/store/sqlite/lock-request.ts',
    tests: ['test/store/lock-request.test.ts', 'test/store/writer-lock.test.ts'],
    changes: [['const isNew = timeMs !== seenMs;', 'const isNew = timeMs === heardMs;']],
  },
];
