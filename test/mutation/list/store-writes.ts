import type { MutatedFile } from '../mutation.ts';

export const storeWrites: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/upkeep.ts',
    tests: ['test/store/contract/account.test.ts'],
    changes: [
      ['THEN u.is_failing ELSE 0 END', 'THEN 0 ELSE 0 END'],
      ['THEN u.failure_count + 1 ELSE 1 END', 'THEN u.failure_count + 1 ELSE 0 END'],
      [
        'THEN u.failing_since_ms ELSE excluded.failed_at_ms END',
        'THEN excluded.failed_at_ms ELSE excluded.failed_at_ms END',
      ],
    ],
  },
  {
    file: 'src/store/noun/look-ups.ts',
    tests: [
      'test/core/device.test.ts',
      'test/http/device-calls.test.ts',
      'test/store/contract/link.test.ts',
      'test/store/contract/device.test.ts',
    ],
    changes: [
      [
        'return { ...row, isRegistered: row.isRegistered === 1 };',
        'return { ...row, isRegistered: row.isRegistered !== 1 };',
      ],
      [
        'WHERE p.device_id = :deviceId AND p.provider_id = :providerId`',
        'WHERE p.device_id = :deviceId `',
      ],
    ],
  },
  {
    file: 'src/store/sqlite/file/migrate.ts',
    tests: ['test/store/open.test.ts', 'test/store/upgrade.test.ts'],
    changes: [
      [
        `if (db.query('PRAGMA foreign_key_check').get() !== null) {`,
        `if (db.query('PRAGMA foreign_key_check').get() === null) {`,
      ],
      ['db.run(`PRAGMA application_id = ${APPLICATION_ID}`);', ''],
      [
        'if (applicationId === APPLICATION_ID) return;',
        'if (applicationId !== APPLICATION_ID) return;',
      ],
    ],
  },
  {
    file: 'src/store/sqlite/file/open.ts',
    tests: ['test/store/open.test.ts'],
    changes: [
      [`db.run('PRAGMA busy_timeout = 0');`, ''],
      [
        `if (error instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')) {`,
        `if (error instanceof SQLiteError || /^SQLITE_(CORRUPT|NOTADB)/.test(error.code ?? '')) {`,
      ],
    ],
  },
  {
    file: 'src/store/noun/provider.ts',
    tests: ['test/store/contract/provider.test.ts', 'test/cli/audit.test.ts'],
    changes: [
      ['rotate.run(after);', ''],
      ['yield* oneTime.endInvitations(known.id)', '0'],
    ],
  },
  {
    file: 'src/store/sqlite/file/note.ts',
    tests: ['test/backup/restore.test.ts', 'test/store/upgrade.test.ts'],
    changes: [
      [`if (!tableNames(native).includes('audit')) return;`, ''],
      [
        `if (!tableNames(native).includes('audit')) return;`,
        `if (tableNames(native).includes('audit')) return;`,
      ],
    ],
  },
  {
    file: 'src/store/sqlite/file/shape.ts',
    tests: ['test/backup/restore.test.ts', 'test/store/open.test.ts', 'test/doctor/doctor.test.ts'],
    changes: [
      [
        'if (!Number.isInteger(version) || version < 1 || version > SCHEMA_VERSION) {',
        'if (!Number.isInteger(version) || version < 1 && version > SCHEMA_VERSION) {',
      ],
      ['if (missing === undefined) return null;', 'if (missing !== undefined) return null;'],
      [
        `if (type !== 'table' || name !== tbl_name || sql === null) return false;`,
        `if (type !== 'table' || name !== tbl_name || sql === null) return true;`,
      ],
    ],
  },
  {
    file: 'src/store/sqlite/statement.ts',
    tests: ['test/store/contract', 'test/store/connection.test.ts'],
    changes: [['bound[i] = Array.isArray(value) ?', 'bound[i] = !Array.isArray(value) ?']],
  },
  {
    file: 'src/store/sqlite/writer.ts',
    tests: [
      'test/store/writer.test.ts',
      'test/store/writer-fault.test.ts',
      'test/store/writer-lock.test.ts',
    ],
    changes: [
      ['this.#options = { ...DEFAULTS, ...options };', 'this.#options = DEFAULTS;'],
      [
        'const isInTime = nowMs - this.#waitingSinceMs < this.#options.lockWaitMaxMs;',
        'const isInTime = nowMs + this.#waitingSinceMs < this.#options.lockWaitMaxMs;',
      ],
      ['this.#options.lockWaitMaxMs = lockWaitMaxMs;', ''],
      [
        'if (fault === null) answer(batch, results);',
        'if (fault !== null) answer(batch, results);',
      ],
    ],
  },
  {
    file: 'src/store/noun/link-end.ts',
    tests: ['test/store/contract/move.test.ts'],
    changes: [['keepsKey ? null : link.subscriptionKeyHash', 'link.subscriptionKeyHash']],
  },
  {
    file: 'src/store/noun/survey.ts',
    tests: ['test/doctor/gate.test.ts'],
    changes: [[`i.panel_facts LIKE '%"isPanelLimit":false%'`, '1 = 0']],
  },
  {
    file: 'src/http/upstream/panel-limits.ts',
    tests: ['test/http/upstream/panel-limits.test.ts'],
    changes: [
      [
        "if (limit === 'unlimited') return upstream.unlimitedAs;",
        "if (limit === 'unlimited') return 100;",
      ],
    ],
  },
  {
    file: 'src/store/noun/link-end.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [
      ['yield* on.dropClaims.run({ deviceIds, providerId, installId });', ''],
      ["yield* tombstones.add({ ...ended, subscriptionKeyHash, why: 'removed' });", ''],
      ['for (const { deviceId } of found) deviceIds.push(deviceId);', ''],
      ['if (found === null) return NOT_FOUND;', ''],
      ['await turn();', ''],
    ],
  },
  {
    file: 'src/store/noun/tombstone.ts',
    tests: ['test/store/contract/link.test.ts'],
    changes: [["return ended === null ? null : 'subscription_key_ended';", 'return null;']],
  },
  {
    file: 'src/store/noun/refused-device.ts',
    tests: ['test/store/contract/provider.test.ts'],
    changes: [['WHERE x.n > ${REFUSED_PER_LINK})`);', 'WHERE false)`);']],
  },
];
