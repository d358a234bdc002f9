import type { MutatedFile } from '../mutation.ts';

export const figures: readonly MutatedFile[] = [
  {
    file: 'src/store/noun/figure-counter.ts',
    tests: ['test/store/figure-counter.test.ts', 'test/store/contract/provider.test.ts'],
    changes: [
      ['if (!(fault instanceof OutcomeUnknown)) this.#gathered.putBack(rows);', ''],
      ['        for (const row of saved) this.#gathered.noteSaved(row, row.dayCount);\n', ''],
      ['    this.#gathered.add(providerId, figure, atMs, by);\n', ''],
      ['    this.#saved = saved;\n', ''],
    ],
  },
  {
    file: 'src/store/sqlite/store.ts',
    tests: ['test/store/figure-counter.test.ts'],
    changes: [
      ['      writer.limitWait(LAST_WAIT_MS);\n', ''],
      ['        await nouns.saveFigures().catch(() => undefined);\n', ''],
      ['saveFigures().catch(() => undefined);', 'saveFigures();'],
    ],
  },
  {
    file: 'src/store/noun/figure.ts',
    tests: ['test/store/contract/provider.test.ts', 'test/store/figure-counter.test.ts'],
    changes: [
      ['BETWEEN :fromDay AND', 'BETWEEN :fromDay + 1 AND'],
      ['day < :beforeDay`;', 'day <= :beforeDay`;'],
      ['r.refused_count DESC', 'r.refused_count ASC'],
      ['AND r.refused_at_ms >= ', 'AND r.refused_at_ms > '],
      ['WHERE i.provider_id = :providerId AND', 'WHERE'],
      ['if (counter.addRefusal(link, reason, atMs, device ?? null)) prompt', 'prompt'],
      ['WHEN excluded.day > r.day THEN excluded.day_count', 'WHEN excluded.day > r.day THEN 0'],
      ['excluded.refused_at_ms >= r.refused_at_ms', 'excluded.refused_at_ms > 0'],
    ],
  },
  {
    file: 'src/core/figures.ts',
    tests: [
      'test/core/figures.test.ts',
      'test/store/figure-counter.test.ts',
      'test/store/contract/provider.test.ts',
      'test/cli/stats.test.ts',
    ],
    changes: [
      ['const key = providerId * DAYS_MAX + day;', 'const key = day;'],
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
