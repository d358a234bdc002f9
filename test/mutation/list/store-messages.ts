import type { MutatedFile } from '../mutation.ts';

export const storeMessages: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/inbox.ts',
    tests: ['test/store/contract/inbox.test.ts'],
    changes: [
      ['messages.push({ ...message, payload: JSON.parse(payload) });', ''],
      [
        'if (place.rows.length === 0 && !place.isRead) {',
        'if (place.rows.length === 0 || !place.isRead) {',
      ],
      ['if (row === undefined) continue;', ''],
      ['if (token === null) return false;', 'if (token === null) return true;'],
      [' || bytes >= bytesMax', ''],
      ['OR r.inbox < 0 AND x.id <=', 'OR x.id <='],
    ],
  },
  {
    file: 'src/store/noun/acknowledgement.ts',
    tests: [
      'test/store/contract/inbox.test.ts',
      'test/core/message/push-model.test.ts',
      'test/store/contract/provider.test.ts',
      'test/store/contract/outbox.test.ts',
    ],
    changes: [
      ['r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL', 'r.executed_at_ms IS NULL'],
      ['r.sent_at_ms IS NOT NULL', 'TRUE'],
      ['AND p.token_id = t.id', ''],
      ['ids.indexOf(id) === ids.lastIndexOf(id)', 'true'],
      ['yield* pushes.reach(notes, fetched, nowMs);', ''],
      ['(fetchedBy.get(deviceId) ?? [])', '[]'],
      ["notes.figure(providerId, 'received', nowMs, change.received);", ''],
      ['if (change.isAtGateway === 1) ', 'if (false) '],
      ['AS r SET is_waiting = 0,', 'AS r SET'],
      ['UPDATE recipient SET is_waiting = 0,', 'UPDATE recipient SET'],
    ],
  },
  {
    file: 'src/store/noun/glance.ts',
    tests: ['test/store/contract/inbox.test.ts'],
    changes: [
      ['LIMIT ${GLANCE_COUNT_MAX + 1}', 'LIMIT ${GLANCE_COUNT_MAX}'],
      ['AND p.after_recipient_id < r.id', ''],
      [' AND t.nobody_after_distribution_id < r.distribution_id', ''],
      ['${hex(\'t.token_hash\')} = k."tokenHash"', 'TRUE'],
      ['rows.sort(([a = 0], [b = 0]) => a - b)', 'rows.reverse()'],
      ["if (message === 'more') return 'more';", "if (message === 'more') continue;"],
      ['AND expires_at_ms >', 'AND 0 * expires_at_ms <'],
      [' AND status <> ${literal(BLOCKED)}', ''],
    ],
  },
  {
    file: 'src/store/rounds.ts',
    tests: ['test/store/together.test.ts'],
    changes: [
      ['const round = roundOf.get(key) ?? 0;', 'const round = 0;'],
      ['answers[n] = own[at] as Answer', 'answers[at] = own[at] as Answer'],
    ],
  },
  {
    file: 'src/store/sqlite/together.ts',
    tests: ['test/store/together.test.ts'],
    changes: [
      ['size > SIZE_MAX && count > 0', 'false'],
      [' && count > 0', ''],
      ['if (result !== undefined) resolve(result);', ''],
      ['if (asked.length === 1 || fault instanceof WriteFailed) {', 'if (true) {'],
      ['await this.#running;', ''],
    ],
  },
  {
    file: 'src/store/noun/registration.ts',
    tests: ['test/store/contract/device.test.ts', 'test/core/message/registration-model.test.ts'],
    changes: [
      [
        'recipientId: sql`(SELECT coalesce(max(id), 0) FROM recipient)`,',
        'recipientId: sql`(SELECT coalesce(min(id), 0) FROM recipient)`,',
      ],
      ["if (shown.kind === 'nothing') return { ...nothing, namedId: providerId };", ''],
      ['const isClaim = providerId !== null;', 'const isClaim = true;'],
      ["if (verdict === 'refused') return notes.refuse('registration_refused');", ''],
      ['const merge = isHolder ? mergeFacts : mergeUnproven;', 'const merge = mergeFacts;'],
      ['standsAlone: isClaim ? 0 : 1', 'standsAlone: 0'],
      ['ORDER BY id LIMIT 1`', 'ORDER BY id DESC LIMIT 1`'],
    ],
  },
  {
    file: 'src/store/noun/token.ts',
    tests: [
      'test/store/contract/device.test.ts',
      'test/core/message/registration-model.test.ts',
      'test/store/contract/outbox.test.ts',
    ],
    changes: [
      ['AND device_id = :deviceId`', '`'],
      ['push_dropped_at_ms = NULL, push_dropped_why = NULL,', ''],
      ["least(deviceSeen, sql.raw('t.last_seen_at_ms'))", 'deviceSeen'],
      ['AND push IS NOT NULL ORDER BY id`', 'ORDER BY id`'],
      [
        'SELECT 1 FROM device_token o WHERE o.device_id = t.device_id',
        'SELECT 1 FROM device_token o WHERE true',
      ],
    ],
  },
  {
    file: 'src/store/noun/keeping.ts',
    tests: ['test/store/contract/inbox.test.ts'],
    changes: [
      ['expired.length === PRUNE_COUNT || ', ''],
      ['if (isRest) return cursorAt<FinishedCursor>(from);', ''],
      [' || bytes > PRUNE_BYTES', ''],
      ['AND (finished_at_ms > :finishedAtMs OR id > :id)', ''],
      ["payload = 'null'", 'payload = payload'],
    ],
  },
  {
    file: 'src/store/noun/stranger.ts',
    tests: ['test/store/contract/inbox.test.ts'],
    changes: [
      ['sparesRegistered && stranger.isRegistered === 1', 'false'],
      ['gone.length < surplus && !isSpared', '!isSpared'],
      ['seenAtMs.get(id) === lastSeenAtMs', 'true'],
      ['yield* on.tokenSeen.run({ tokenId, nowMs });', ''],
      ['if (isFirstOfDay(lastSeenAtMs, nowMs)) ', ''],
      ['AND p.token_id IS NOT NULL\n', '\n'],
      ['sparesRegistered ? after(FIRST_STRANGER, false) : null', 'null'],
    ],
  },
  {
    file: 'src/store/sqlite/watch.ts',
    tests: ['test/store/sqlite.test.ts'],
    changes: [
      ["if (count === null || count !== known) onChange('all');", "onChange('all');"],
      ['if (count === null || count !== known)', 'if (count !== known)'],
      ['if (isOver) return;', ''],
    ],
  },
  {
    file: 'src/store/noun/removal.ts',
    tests: ['test/store/contract/provider.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      ['yield* remove.run({ id });', ''],
      ["if ((yield* deletion({ providerId: id, ids: [] })) > 0) return 'more';", ''],
      ["if (found === null) return 'provider_not_found';\n        const { id }", 'const { id }'],
      ['notes.audit(act, deeds.removeProvider(found));', ''],
    ],
  },
  {
    file: 'src/core/outbox/dispatch.ts',
    tests: ['test/core/outbox/dispatch.test.ts'],
    changes: [
      ['if (isNew) return [fresh];', ''],
      [
        'if (after === null) return [again, setBack, fresh];',
        'if (after === null) return [fresh, again];',
      ],
      [
        'const isHere = key?.kind === to.kind && key.origin === to.origin;',
        'const isHere = key !== null;',
      ],
      ["if (isBlocked) moot = 'blocked';", ''],
    ],
  },
];
