import type { MutatedFile } from '../mutation.ts';

/** Sends from the console. */
export const composeFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/message/tree.ts',
    tests: ['test/core/message/tree.test.ts'],
    changes: [
      ['if (!EMPTY_TAGS.includes(tag)) open.push(node);', 'open.push(node);'],
      ['if (open.length > 1 && open.at(-1)?.tag === tag) open.pop();', ''],
      ["'&amp;': '&',", ''],
    ],
  },
  {
    file: 'src/http/console/send-calls.ts',
    tests: ['test/http/console/send.test.ts'],
    changes: [
      ['const core = rehearsing(staff.core);', 'const core = staff.core;'],
      ['one.title ?? title', "one.title ?? ''"],
      ['readKeyedCall(kind, once ?? null, given, core.leastMs(nowMs))', 'null'],
    ],
  },
  {
    file: 'src/core/device-search.ts',
    tests: ['test/core/device-search.test.ts'],
    changes: [
      ['after = next;', 'after = null;'],
      ['hwids: count > SEARCHED_HWIDS_MAX ? null : hwids', 'hwids'],
    ],
  },
  {
    file: 'src/store/noun/device-search.ts',
    tests: ['test/store/contract/job.test.ts'],
    changes: [
      ['AND ${linkedRow(backend)}', ''],
      [`|| '-%')`, `|| '%')`],
      ['link === null ? null : likePart(link)', 'link'],
    ],
  },
  {
    file: 'src/console/parts/send-form.tsx',
    tests: ['test/console/compose-filter.test.ts'],
    changes: [
      ['if (unready) {', 'if (false) {'],
      ['isMany.value = isOverApi(currentTarget.value);', ''],
    ],
  },
  {
    file: 'src/cli/distribution.ts',
    tests: ['test/cli/distribution.test.ts'],
    changes: [['count > TARGET_HWID_COUNT_MAX', 'false']],
  },
  {
    file: 'src/console/parts/attempt.ts',
    tests: ['test/console/lost-answer.test.ts'],
    changes: [
      ['if (text !== this.#content) ', ''],
      ["this.#content = '';\n  }", '}'],
    ],
  },
  {
    file: 'src/core/link-make.ts',
    tests: ['test/console/lost-answer.test.ts'],
    changes: [
      [
        '{ ...terms, installCode, installLimit, subscriptionKey }',
        '{ ...terms, installCode, installLimit, subscriptionKey, keyed: null }',
      ],
    ],
  },
  {
    file: 'src/http/console/link-calls.ts',
    tests: ['test/console/lost-answer.test.ts'],
    changes: [
      [
        '{ ...form, installCode: null, installLimit, keyed }',
        '{ ...form, installCode: null, installLimit }',
      ],
    ],
  },
];
