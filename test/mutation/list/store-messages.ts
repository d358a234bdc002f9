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
    file: 'src/store/sqlite/watch.ts',
    tests: ['test/store/contract/node.test.ts'],
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
      [
        'return (yield* rows({ providerId, ids })) || (yield* own.run({ ids }));',
        'return yield* rows({ providerId, ids });',
      ],
      ["if ((yield* deletion({ providerId: id, ids: [] })) > 0) return 'more';", ''],
      ['yield* disableWebhooks.run({ id, atMs: act.atMs });', ''],
      ['notes.audit(act, deeds.removeProvider(found));', ''],
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
];
