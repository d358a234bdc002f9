import type { MutatedFile } from '../mutation.ts';

/** Users of panels that move in. */
export const panelFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/moving/panel.ts',
    tests: ['test/core/moving/panel.test.ts'],
    changes: [
      ["asText(row['id']) || asText(row['t_id'])", "asText(row['id'])"],
      ["ofSquad.get(asText(row['external_squad_uuid'])) ?? common", 'common'],
    ],
  },
  {
    file: 'src/core/moving/panel.ts',
    tests: ['test/cli/import-panel-limits.test.ts'],
    changes: [
      ['.filter((row) => !isDeleted(row))', ''],
      ['isTrue(cell) || /^[1-9]\\d{3}-/.test(asText(cell))', 'isTrue(cell)'],
    ],
  },
  {
    file: 'src/core/moving/panel.ts',
    tests: ['test/cli/import-panel-users.test.ts'],
    changes: [
      [
        "id: asText(row['id']) || null,\n        key: asText(row['uuid'])",
        "id: null,\n        key: asText(row['uuid'])",
      ],
    ],
  },
  {
    file: 'src/core/panel/limit-rule.ts',
    tests: ['test/core/panel/limit-rule.test.ts'],
    changes: [
      ["(count === 0 ? 'unlimited' : count)", 'count'],
      ['settings?.isOn ? zeroIsUnlimited', 'settings ? zeroIsUnlimited'],
      ['enabled.length > 0 ? enabled : clients', 'clients'],
      ["if (role.mode === 'disabled') return null;", ''],
      ['if (!overrides && !settings.isOn) return null;', ''],
      ['own === MAX_IPS_MEANING_NONE ? null', 'own === -1 ? null'],
    ],
  },
  {
    file: 'src/core/moving/panel-user.ts',
    tests: ['test/core/moving/panel.test.ts'],
    changes: [
      ['limit <= INSTALL_LIMIT.maximum;', 'true;'],
      ['before?.installLimit ?? rules.unlimitedAs', 'rules.unlimitedAs'],
      ['toSorted((a, b) => a.registeredAtMs - b.registeredAtMs)', 'toSorted(() => 0)'],
      [
        "time = '00:00:00', fraction = '', zone = 'Z'",
        "time = '00:00:00', fraction = '', zone = '+01'",
      ],
    ],
  },
  {
    file: 'src/core/moving/panel-user.ts',
    tests: ['test/cli/import-panel-users.test.ts'],
    changes: [
      ['panelCreatedAtMs - beforeMs > ROUNDED_MS', 'panelCreatedAtMs !== beforeMs'],
      ['isRefused(readSubscriptionKey(key)) ? NO_NAME : key', 'key'],
      [
        'user.isDisabled && disablesDisabled ? INSTALL_DISABLED',
        'user.isDisabled ? INSTALL_DISABLED',
      ],
      ["kind === 'hiddify' ? plain.toLowerCase() : plain", 'plain'],
    ],
  },
  {
    file: 'src/core/moving/panel-plan.ts',
    tests: ['test/cli/import-panel-users.test.ts'],
    changes: [
      ["view === '' || view === before", 'true'],
      [
        'byKey.get(keys.now) ?? (isShared ? undefined : byKey.get(keys.former))',
        'byKey.get(keys.now)',
      ],
      ['filter(({ status }) => status !== INSTALL_DISABLED)', 'filter(() => true)'],
      ['count * 10 > linkCount', 'count * 5 > linkCount'],
      ['&& new Set(group.map((user) => user.key)).size > 1', ''],
    ],
  },
  {
    file: 'src/core/moving/panel-import.ts',
    tests: ['test/cli/import-panel.test.ts'],
    changes: [
      ['if (options.disablesGone && !options.isCheck)', 'if (!options.isCheck)'],
      ['if (options.isCheck) mover', 'if (false) mover'],
      ['  if (isTwice) {', '  if (false) {'],
    ],
  },
  {
    file: 'src/core/moving/panel-import.ts',
    tests: ['test/cli/import-panel-limits.test.ts'],
    changes: [
      ['lowersExisting && !isPanelLimit && isOfImport', 'lowersExisting && !isPanelLimit'],
      ['Math.max(unlimitedAs, least)', 'unlimitedAs'],
      ['lowersExisting && !isPanelLimit', '!isPanelLimit'],
    ],
  },
  {
    file: 'src/core/moving/panel-import.ts',
    tests: ['test/cli/import-panel-users.test.ts'],
    changes: [
      [
        'else if (one.isAnother && one.link !== null && !options.isCheck) await end(mover, one.link);',
        '',
      ],
      ['if (why === NO_KEY.detail) panel.withoutKey += 1;', 'if (false) panel.withoutKey += 1;'],
    ],
  },
  {
    file: 'src/core/moving/merge.ts',
    tests: ['test/store/contract/move.test.ts'],
    changes: [['known.status === before?.status ? known.status : INSTALL_ACTIVE', 'known.status']],
  },
  {
    file: 'src/panel/sql-dump.ts',
    tests: ['test/panel/sql-dump.test.ts'],
    changes: [
      ["if (line === '\\\\.') return;", ''],
      ["return line.endsWith('\\r') ? line.slice(0, -1) : line;", 'return line;'],
      ['rest.length > ROW_MAX', 'false'],
      ['if (columns === undefined) {\n      throw', 'if (false) {\n      throw'],
      ['if (this.#isWhole || !this.sink.hasUserTable) return;', 'return;'],
      [
        'if (this.sink.columnsOf(table) === null) return;\n    const form',
        'return;\n    const form',
      ],
      ['(?:INSERT|REPLACE)\\\\s+(?:(?:IGNORE', 'INSERT\\\\s+(?:(?:IGNORE'],
    ],
  },
  {
    file: 'src/panel/sql-values.ts',
    tests: ['test/panel/sql-dump.test.ts'],
    changes: [
      ["if (hasEscapes && text[next] === '\\\\') next += 1;\n    else if", 'if'],
      [`text.replaceAll("''", "'")`, 'text'],
    ],
  },
  {
    file: 'src/panel/rows.ts',
    tests: ['test/panel/rows.test.ts'],
    changes: [
      ['this.#count > ROWS_MAX || ', ''],
      [' || this.#length > LENGTH_MAX', ''],
      ['this.#passed % ROWS_PER_SIGN === 0', 'false'],
    ],
  },
  {
    file: 'src/panel/rows.ts',
    tests: ['test/panel/sql-dump.test.ts'],
    changes: [['.length ?? 0) > 0)', '.length ?? 0) >= 0)']],
  },
  {
    file: 'src/panel/panel-file.ts',
    tests: ['test/panel/panel-file.test.ts'],
    changes: [['decoder.decode(chunk, { stream: true })', 'decoder.decode(chunk)']],
  },
  {
    file: 'src/panel/sqlite-file.ts',
    tests: ['test/panel/panel-file.test.ts'],
    changes: [
      ['if (hasLog && !existsSync(`${path}-shm`)) return await openCopy(path, sink);', ''],
      ['if (hasLog && !existsSync(`${path}-wal`)) {', 'if (false) {'],
      ["    opened.db.run('BEGIN');\n", ''],
      ['  if (names.length === 0) return;\n', ''],
    ],
  },
  {
    file: 'src/panel/panel-api.ts',
    tests: ['test/panel/panel-api.test.ts'],
    changes: [
      ['if (records.length === 0 || done > total) {', 'if (done > total) {'],
      ['if (success !== true) throw', 'if (false) throw'],
      ["if (!/^\\d+$/.test(id)) throw this.#unusable('/api/users');", ''],
      ["redirect: 'manual',", ''],
      ['if (attempt === ATTEMPTS_MAX) throw', 'if (attempt === 1) throw'],
      ["this.view = seesAll ? '' :", 'this.view ='],
      ['scope === SCOPE_ALL', 'scope !== undefined'],
    ],
  },
  {
    file: 'src/panel/sqlite-file.ts',
    tests: ['test/e2e/import-hostile.test.ts'],
    changes: [
      ["WHERE type = 'table' AND rootpage > 0 AND", "WHERE type = 'table' AND"],
      ["WHERE type = 'table' AND rootpage > 0 AND", 'WHERE'],
      [
        'if (db.query(`SELECT 1 FROM "${table}" WHERE ${isLong}`).get() !== null) {',
        'if (false) {',
      ],
    ],
  },
  {
    file: 'src/panel/panel-api.ts',
    tests: ['test/e2e/import-hostile.test.ts'],
    changes: [['if (broken !== null)', 'if (false)']],
  },
  {
    file: 'src/panel/reader-process.ts',
    tests: ['test/e2e/import-hostile.test.ts'],
    changes: [
      ['if (memoryMibOf(child.pid) > watch.memoryMaxMib) kill', 'if (false) kill'],
      ['    rmSync(folder, { recursive: true, force: true });', ''],
    ],
  },
  {
    file: 'src/panel/reader-process.ts',
    tests: ['test/e2e/import-reader.test.ts'],
    changes: [
      ['kill(this.#tooQuiet()), this.quietMs)', '{}, this.quietMs)'],
      ["watch.signal.addEventListener('abort', stop);", ''],
      ['if (!this.#isWhole) throw', 'if (false) throw'],
    ],
  },
  {
    file: 'src/panel/reader-main.ts',
    tests: ['test/e2e/import-reader.test.ts'],
    changes: [['if (process.ppid !== importPid) out.leave();', '']],
  },
];
