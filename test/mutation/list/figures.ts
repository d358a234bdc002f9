import type { MutatedFile } from '../mutation.ts';

export const figures: readonly MutatedFile[] = [
  {
    file: 'src/store/sqlite/figure-trail.ts',
    tests: ['test/store/figure-trail.test.ts', 'test/store/contract/provider.test.ts'],
    changes: [
      ['nowMs - this.#savedMs < SAVE_INTERVAL_MS) return;', 'nowMs < this.#savedMs) return;'],
      ['if (!this.#mustSave && nowMs', 'if (nowMs'],
      ['    this.#savedMs = nowMs;\n', ''],
      ['    this.#noted.length = mark;', ''],
      ['      this.#add(rowsOf(this.#noted));\n', ''],
      ['      this.#saving = rows;\n', ''],
      ['      this.#gathered.putBack(rows);\n', ''],
      ['      this.#gathered.putBack(this.#saving);', ''],
      ['      if (isSaved) gather(this.#noted', '      gather(this.#noted'],
      ['      this.#on.rollbackTo.run();\n', ''],
      ['    this.#mustSave = false;', ''],
      ["WHERE id = ${value('providerId')}\n", 'WHERE true\n'],
      ['excluded.refused_at_ms >= refused_at_ms', 'excluded.refused_at_ms > 0'],
      [
        'refused_at_ms = max(refused_at_ms, excluded.refused_at_ms)',
        'refused_at_ms = excluded.refused_at_ms',
      ],
      [
        'refused_count = refused_count + excluded.refused_count,',
        'refused_count = excluded.refused_count,',
      ],
      ['raw(`${figure} = ${figure} + excluded', 'raw(`${figure} = excluded'],
    ],
  },
  {
    file: 'src/store/sqlite/store.ts',
    tests: ['test/store/figure-trail.test.ts'],
    changes: [
      ['      writer.hasten(LAST_WAIT_MS);\n', ''],
      ['        await figures.save(writer).catch(() => undefined);\n', ''],
      ['figures.save(writer).catch(() => undefined);', 'figures.save(writer);'],
    ],
  },
  {
    file: 'src/store/sqlite/figure.ts',
    tests: ['test/store/contract/provider.test.ts'],
    changes: [
      ["BETWEEN ${value('fromDay')} AND", "BETWEEN ${value('fromDay')} + 1 AND"],
      ["day < ${value('beforeDay')}`;", "day <= ${value('beforeDay')}`;"],
      ['r.refused_count DESC', 'r.refused_count ASC'],
      ['AND r.refused_at_ms >= ', 'AND r.refused_at_ms > '],
      ["WHERE i.provider_id = ${value('providerId')} AND", 'WHERE'],
      [
        'if (figures.refuse(link, reason, atMs)) prompt.ask',
        'figures.refuse(link, reason, atMs);\n      if (false) prompt.ask',
      ],
    ],
  },
  {
    file: 'src/core/figures.ts',
    tests: [
      'test/store/figure-trail.test.ts',
      'test/store/contract/provider.test.ts',
      'test/cli/stats.test.ts',
    ],
    changes: [
      ['    this.#last = null;\n', ''],
      ['last.providerId === providerId && last.day', 'last.day'],
      ['fromDay: toDay - count + 1', 'fromDay: toDay - count'],
      ['if (this.#refusals.size < GATHERED_LINKS_MAX) this', 'this'],
      ['if (added.refusedAtMs < known.refusedAtMs) return;', ''],
      ['    known.count += added.count;', ''],
      ['    map.delete(key);', ''],
      ['if (number > before) reached', 'reached'],
      ['(this.#takenCounts.get(key) ?? 0) + (this', '(this'],
    ],
  },
  {
    file: 'src/core/prompt-save.ts',
    tests: ['test/core/prompt-save.test.ts'],
    changes: [
      ['if (!this.#isSaving) void', 'void'],
      ['if (await this.#isWanted()) await', 'await'],
    ],
  },
];
