import type { MutatedFile } from '../mutation.ts';

/** PostgreSQL below the nouns: connections, writes, groups, signals, migrations. */
export const storePostgres: readonly MutatedFile[] = [
  {
    file: 'src/store/postgres/write.ts',
    tests: ['test/store/postgres-database.test.ts', 'test/store/postgres-trails.test.ts'],
    changes: [
      ['isConflict(fault) || (fault', '(fault'],
      [' || (fault instanceof StoreAway && isLost(fault.cause));', ';'],
      ['attempt < ATTEMPTS_MAX && call.leftMs() > 0', 'call.leftMs() > 0'],
      ['if (fault instanceof Refusal) return fault.value as T;', ''],
      ['        await own.seal();\n', ''],
    ],
  },
  {
    file: 'src/store/postgres/group.ts',
    tests: [
      'test/store/turn-group.test.ts',
      'test/store/postgres-fairness.test.ts',
      'test/store/postgres-database.test.ts',
    ],
    changes: [
      ['if (next.item.countdown.leftMs() <= 0) continue;', ''],
      [' && size < (sizes?.max ?? itemsMax)', ''],
      ['waitingMax: WAITING_MAX', 'waitingMax: 2 * WAITING_MAX'],
      ['if (answers.length !== calls.length) {', 'if (false) {'],
      ['calls.length === 1 || isStorageFault(fault)', 'true'],
      ['if (this.#waiting.size > 0) this.#schedule();', ''],
      ['if (runs === 0) this.#runsOf', 'if (runs < 0) this.#runsOf'],
    ],
  },
  {
    file: 'src/store/postgres/sealer.ts',
    tests: ['test/store/postgres-trails.test.ts'],
    changes: [['await runOn(runner, STATEMENTS.lockAuditLog());', '']],
  },
  {
    file: 'src/store/postgres/database.ts',
    tests: ['test/store/postgres-held-lock.test.ts'],
    changes: [
      ['if (!isTooLong(fault)) return', 'return'],
      ['? call.leftMs() > 2 * plainLockMs(this.options)', '? attempt < 2'],
    ],
  },
  {
    file: 'src/store/postgres/database-options.ts',
    tests: ['test/store/postgres-held-lock.test.ts'],
    changes: [['statementMs / 20', 'statementMs / 2']],
  },
  {
    file: 'src/store/postgres/fault.ts',
    tests: [
      'test/store/postgres-faults.test.ts',
      'test/store/postgres-database.test.ts',
      'test/store/postgres-outage.test.ts',
    ],
    changes: [
      ['install_pkey|domain_pkey|', 'install_pkey|'],
      ['/^(53(?!300)|58)/', '/^(58)/'],
      ['/^(08004|28|3D|53300)/', '/^(08004|53300)/'],
      ['/^(25006|53|55P03|57014|58|XX)/', '/^(25006|53|57014|58|XX)/'],
      ['/^(40P01|55P03)$/', '/^(55P03)$/'],
      ['/^(40001|40P01)$/', '/^(40001)$/'],
      ['/^(08|57P0)/', '/^(08)/'],
      ["=== '25006'", "=== '25007'"],
    ],
  },
  {
    file: 'src/store/postgres/migrate.ts',
    tests: ['test/store/postgres-migrate.test.ts', 'test/store/move.test.ts'],
    changes: [
      ['version > SCHEMA_VERSION && readableFrom <= SCHEMA_VERSION', 'version > SCHEMA_VERSION'],
      ['if (state !== null && !moves) refuseMoved(state);', ''],
      ['MIGRATIONS.slice(state?.version ?? 0)', 'MIGRATIONS.slice(0)'],
      ['if (state !== null && !migrates) {', 'if (false) {'],
    ],
  },
  {
    file: 'src/store/postgres/watch.ts',
    tests: ['test/store/postgres-listening.test.ts', 'test/store/postgres-messages.test.ts'],
    changes: [
      ['if (this.#quietChecks >= DEAF_CHECKS) this.#drop(this.#connection);', ''],
      ['if (deviceIds !== null) this.#report(deviceIds);', ''],
      ['this.#checkBan().catch(() => undefined),', 'await this.#checkBan(),'],
      ["          this.#report('all');\n        },", '        },'],
    ],
  },
  {
    file: 'src/store/postgres/watch.ts',
    tests: ['test/store/contract/node.test.ts'],
    store: 'postgres',
    changes: [['if (isMoved) this.#report([]);', '']],
  },
  {
    file: 'src/store/postgres/signals.ts',
    tests: ['test/store/postgres-messages.test.ts'],
    changes: [['if (sender === this.#sender) return null;', '']],
  },
  {
    file: 'src/store/postgres/database.ts',
    tests: ['test/store/postgres-database.test.ts', 'test/store/postgres-outage.test.ts'],
    changes: [
      ['if (!isCommitting || !isUnanswered) throw met;', 'throw met;'],
      ["if (isOver) return Promise.reject(new Error('the transaction is over'));", ''],
      ['!isOver && (isConflict(fault) || mayRepeat(fault))', '!isOver && isConflict(fault)'],
    ],
  },
  {
    file: 'src/store/postgres/dialect.ts',
    tests: ['test/store/contract/audit.test.ts', 'test/store/contract/event.test.ts'],
    store: 'postgres',
    changes: [['next = running.next(result);', 'next = running.next(undefined);']],
  },
  {
    file: 'src/store/postgres/migrate.ts',
    tests: ['test/store/postgres-opening.test.ts', 'test/store/postgres-outage.test.ts'],
    changes: [
      ['found.readableFrom > SCHEMA_VERSION', 'found.readableFrom >= 1_000'],
      ["found.move === null ? null : 'database_moved'", 'null'],
    ],
  },
];
