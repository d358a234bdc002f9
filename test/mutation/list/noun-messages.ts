import type { MutatedFile } from '../mutation.ts';

export const nounMessages: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/distribution.ts',
    tests: [
      'test/store/contract/distribution.test.ts',
      'test/store/contract/audit.test.ts',
      'test/core/message/cancel.test.ts',
      'test/cli/audit.test.ts',
    ],
    changes: [
      [
        "SELECT ${COLUMNS} FROM distribution x WHERE x.id = ${value('id')} AND ${ofProvider}`",
        "SELECT ${COLUMNS} FROM distribution x WHERE x.id = ${value('id')} `",
      ],
      [
        "ORDER BY x.id DESC LIMIT ${value('countMax')}`),\n    block: backend.prepare(",
        "ORDER BY x.id ASC LIMIT ${value('countMax')}`),\n    block: backend.prepare(",
      ],
      [
        'deeds.blockDistribution({ id, status }, { id, status: BLOCKED });',
        'deeds.blockDistribution({ id, status }, { id, status });',
      ],
      ['if (known?.providerId !== providerId)', 'if (known === null)'],
    ],
  },
  {
    file: 'src/store/noun/acceptance.ts',
    tests: ['test/store/contract/distribution.test.ts', 'test/store/contract/event.test.ts'],
    changes: [
      [
        '() => on.setCount.run({ providerId, lastGeneralAtMs, sendsFromMs, sendCount }),',
        '() => on.usage.get({ providerId }),',
      ],
      ["refusals.includes('kept_bytes_full') ? keptBytesMax :", ''],
      ['AND unbound_count > 0\n          AND created_at_ms > ', 'AND created_at_ms >= '],
    ],
  },
  {
    file: 'src/store/noun/acceptance.ts',
    tests: ['test/store/contract/race-connections.test.ts'],
    store: 'postgres',
    changes: [['usage.keptBytes += keptBytesOf(draft, guards.bounds);', '']],
  },
  {
    file: 'src/store/noun/targets.ts',
    tests: ['test/store/contract/device.test.ts', 'test/store/contract/inbox.test.ts'],
    changes: [
      [
        'WHERE b.device_id = p.device_id AND b.provider_id = p.provider_id AND',
        'WHERE b.device_id = p.device_id AND',
      ],
      ['THEN 1 ELSE 1 + 2 * tie_count END', 'THEN 1 ELSE 1 END'],
      ['isLinked: device.isLinked === 1', 'isLinked: true'],
      [
        'for (let { source, id: afterId } = from; ; source += 1, afterId = 0)',
        'for (let { source, id: afterId } = from; ; source += 1)',
      ],
      ['ORDER BY device_id LIMIT ${statements', 'ORDER BY device_id DESC LIMIT ${statements'],
    ],
  },
];
