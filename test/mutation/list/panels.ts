import type { MutatedFile } from '../mutation.ts';

/** Users of panels that move in. */
export const panelFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/moving/panel.ts',
    tests: ['test/core/moving/panel.test.ts'],
    changes: [
      ['limit !== null && limit > 0 ? limit : null', 'limit'],
      ['const asked = enabled.length > 0 ? enabled : clients;', 'const asked = clients;'],
      ["if (mode === 'disabled') return [asText(row['id']), null];", ''],
      ["asText(row['id']) || asText(row['t_id'])", "asText(row['id'])"],
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
    file: 'src/core/moving/panel-import.ts',
    tests: ['test/cli/import-panel.test.ts'],
    changes: [
      ['if (!disablesGone || isCheck) return;', 'if (isCheck) return;'],
      ['filter(({ facts }) => facts.status !== INSTALL_DISABLED)', 'filter(() => true)'],
      ['if (options.isCheck) mover', 'if (false) mover'],
      ['const isKnown = seen.has(panelUser);', 'const isKnown = false;'],
    ],
  },
  {
    file: 'src/panel/sql-dump.ts',
    tests: ['test/panel/sql-dump.test.ts'],
    changes: [
      ["if (hasEscapes && text[next] === '\\\\') next += 1;\n    else if", 'if'],
      [`text.replaceAll("''", "'")`, 'text'],
      ["if (line === '\\\\.') return;", ''],
      ["return line.endsWith('\\r') ? line.slice(0, -1) : line;", 'return line;'],
      ['rest.length > ROW_MAX', 'false'],
      ['if (columns === undefined) {\n      throw', 'if (false) {\n      throw'],
    ],
  },
  {
    file: 'src/panel/rows.ts',
    tests: ['test/panel/rows.test.ts'],
    changes: [
      ['this.#count > ROWS_MAX || ', ''],
      [' || this.#length > LENGTH_MAX', ''],
      ['this.#count % 1024 === 0 && this.isStopped()', 'false'],
    ],
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
      ['if (hasLog && !existsSync(`${path}-shm`)) return openCopy(path);', ''],
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
      ["redirect: 'manual',", ''],
      ['if (attempt === ATTEMPTS_MAX) throw', 'if (attempt === 1) throw'],
    ],
  },
];
