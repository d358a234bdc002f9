import type { MutatedFile } from '../mutation.ts';

export const storeMessages: readonly MutatedFile[] = [
  {
    file: 'src/store/sqlite/inbox.ts',
    tests: ['test/store/sqlite.test.ts'],
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
    tests: ['test/store/sqlite.test.ts'],
    changes: [
      [
        '(SELECT coalesce(max(id), 0) FROM recipient) AS "recipientId",',
        '(SELECT coalesce(min(id), 0) FROM recipient) AS "recipientId",',
      ],
      [`if (shown.kind === 'nothing') return { claim: 'nothing', ...nothing };`, ''],
      ['if (providerId === null) {', 'if (providerId !== null) {'],
      [
        'const held = heldTokenHash && tokens.find.get({ tokenHash: heldTokenHash });',
        'const held = heldTokenHash || tokens.find.get({ tokenHash: heldTokenHash });',
      ],
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
    file: 'src/store/sqlite/removal.ts',
    tests: ['test/store/sqlite.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      [
        'return (of: { providerId: number }) => rows.run(of) || own.run(of);',
        'return (of: { providerId: number }) => rows.run(of) && own.run(of);',
      ],
      [`if (found === null) return 'provider_not_found';`, ''],
      ["return remove.run({ id }) > 0 ? 'ok' : 'provider_not_found';", "return 'ok';"],
    ],
  },
  {
    file: 'src/store/sqlite/targets.ts',
    tests: ['test/store/sqlite.test.ts'],
    changes: [
      [
        'WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id',
        'WHERE b.device_id = p.device_id ',
      ],
      [
        'SELECT device_id AS id, iif(slot_count > 0, 1, 1 + 2 * tie_count) AS rows',
        'SELECT device_id AS id, iif(slot_count > 0, 1, 1 - 2 * tie_count) AS rows',
      ],
      [
        'return found && { id: found.id, isLinked: found.isLinked === 1 };',
        'return found || { id: found.id, isLinked: found.isLinked === 1 };',
      ],
    ],
  },
  {
    file: 'src/store/sqlite/recipient.ts',
    tests: ['test/store/sqlite.test.ts'],
    changes: [
      [
        "recipient_count = recipient_count + ${value('added')},",
        "recipient_count = recipient_count - ${value('added')},",
      ],
      [
        'for (let count = 0, rows = 0; count < STEP_COUNT && rows < SERVE_ROWS; ) {',
        'for (let count = 0, rows = 0; count < STEP_COUNT || rows < SERVE_ROWS; ) {',
      ],
      ['on.loaded.run({ ...held(lease, clock), source, cursorId: NAMED_LOADED, ...counts });', ''],
    ],
  },
];
