import type { MutatedFile } from '../mutation.ts';

export const storeMessages: readonly MutatedFile[] = [
  {
    file: 'src/store/sqlite/inbox.ts',
    tests: ['test/store/contract/inbox.test.ts'],
    changes: [
      [
        'AND r.executed_at_ms IS NULL AND r.refused_at_ms IS NULL)',
        'AND r.executed_at_ms IS NULL )',
      ],
      ['messages.push({ ...message, payload: JSON.parse(payload) });', ''],
      [
        'if (place.rows.length === 0 && !place.isRead) refill(place);',
        'if (place.rows.length === 0 || !place.isRead) refill(place);',
      ],
      ['if (row === undefined) continue;', ''],
    ],
  },
  {
    file: 'src/store/sqlite/registration.ts',
    tests: ['test/store/contract/device.test.ts'],
    changes: [
      [
        '(SELECT coalesce(max(id), 0) FROM recipient) AS "recipientId",',
        '(SELECT coalesce(min(id), 0) FROM recipient) AS "recipientId",',
      ],
      [`if (shown.kind === 'nothing') return nothing;`, ''],
      ['if (providerId === null) {', 'if (providerId !== null) {'],
      [
        'const held = heldTokenHash && tokens.find.get({ tokenHash: heldTokenHash });',
        'const held = heldTokenHash || tokens.find.get({ tokenHash: heldTokenHash });',
      ],
    ],
  },
  {
    file: 'src/store/postgres/named.ts',
    tests: ['test/store/contract/distribution.test.ts'],
    store: 'postgres',
    changes: [
      ['if (next === LOAD) added += hwidsOf(work).length;', ''],
      ['for (const hwid of hwidsOf(work)) hwids.add(hwid);', ''],
    ],
  },
  {
    file: 'src/store/postgres/lane.ts',
    tests: ['test/store/contract/distribution.test.ts'],
    store: 'postgres',
    changes: [['${FREE} AND ${IS_BEFORE_SCHEDULED} AS "isNext"', '${FREE} AS "isNext"']],
  },
  {
    file: 'src/store/sqlite/watch.ts',
    tests: ['test/store/contract/node.test.ts'],
    changes: [
      ["if (count === null || count !== known) onChange('all');", "onChange('all');"],
      ['if (count === null || count !== known)', 'if (count !== known)'],
      ['if (isOver) return;', ''],
    ],
  },
  {
    file: 'src/store/sqlite/removal.ts',
    tests: ['test/store/contract/provider.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      [
        'return (of: { providerId: number }) => rows.run(of) || own.run(of);',
        'return (of: { providerId: number }) => rows.run(of) && own.run(of);',
      ],
      [
        "const found = find.get({ code });\n        if (found === null) return 'provider_not_found';",
        'const found = find.get({ code });',
      ],
    ],
  },
  {
    file: 'src/store/sqlite/named.ts',
    tests: ['test/store/contract/distribution.test.ts'],
    changes: [
      ['work.readyAtMs <= nowMs && mayBegin(work.status)', 'mayBegin(work.status)'],
      ['queue.push(lane);', 'queue.unshift(lane);'],
      ['if (!lanes.move(lease, CHECKING, next) || next !== LOAD) return;', ''],
    ],
  },
  {
    file: 'src/store/sqlite/recipient.ts',
    tests: ['test/store/contract/recipient.test.ts'],
    changes: [
      [
        "recipient_count = recipient_count + ${value('added')},",
        "recipient_count = recipient_count - ${value('added')},",
      ],
      [
        'for (let count = 0, rows = 0; count < countMax && rows < SERVE_ROWS; ) {',
        'for (let count = 0, rows = 0; count < countMax || rows < SERVE_ROWS; ) {',
      ],
      ['on.loaded.run({ ...held(lease, clock), source, cursorId: NAMED_LOADED, ...counts });', ''],
      ['const send = queued > 0 ? on.sendAndPush : on.send;', 'const send = on.send;'],
      ['recipient_count - sent_count - push_waiting_count\n', 'recipient_count - sent_count\n'],
      [
        "handed_over_at_ms = ${value('nowMs')}, lease_owner = NULL,",
        "handed_over_at_ms = ${value('nowMs')},",
      ],
    ],
  },
  {
    file: 'src/store/sqlite/push-steps.ts',
    tests: ['test/store/contract/recipient.test.ts', 'test/core/message/push-model.test.ts'],
    changes: [
      ['AND p.after_recipient_id < r.id', ''],
      ['n.nobody_after_distribution_id < r.distribution_id', 'n.nobody_after_distribution_id > 0'],
      ['else if (id !== push.destinationId) {', 'else {'],
      ['if (left.waitingCount === 0)', 'if (left.waitingCount >= 0)'],
      ['      on.removeRun.run({ ...run });', ''],
      [
        "const failureCount = key.kind === 'webpush' ? UNPROVEN_COUNT : 0;",
        'const failureCount = 0;',
      ],
    ],
  },
  {
    file: 'src/core/outbox/dispatch.ts',
    tests: ['test/store/contract/outbox.test.ts'],
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
  {
    file: 'src/store/sqlite/outbox.ts',
    tests: ['test/store/contract/outbox.test.ts'],
    changes: [
      ['(${STOPPED_UNTIL} <= ', '(0 <= '],
      ['return found.slice(0, countMax)', 'return found'],
    ],
  },
  {
    file: 'src/store/sqlite/outbox-settlement.ts',
    tests: ['test/store/contract/outbox.test.ts'],
    changes: [
      ["AND push = ${value('push')}", ''],
      ['if (destination.leaseOwner !== owner) return false;', ''],
      ["attempt_count + ${value('counted')},", 'attempt_count + 1,'],
    ],
  },
];
