import type { MutatedFile } from '../mutation.ts';

/** Sends from the console. */
export const composeFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/message/tree.ts',
    tests: ['test/core/message/tree.test.ts'],
    changes: [
      ['if (!EMPTY_TAGS.includes(tag)) open.push(node);', 'open.push(node);'],
      ['if (open.length > 1 && open.at(-1)?.tag === tag) open.pop();', ''],
      ["'&amp;': '&', ", ''],
    ],
  },
  {
    file: 'src/http/console/send-calls.ts',
    tests: ['test/http/console/send.test.ts'],
    changes: [
      ['const core = rehearsing(staff.core);', 'const core = staff.core;'],
      ['one.title ?? title', "one.title ?? ''"],
      ['readKeyedCall(kind, once ?? null, given, nowMs)', 'null'],
    ],
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
    changes: [['keyed: keyed ?? null', 'keyed: null']],
  },
  {
    file: 'src/http/console/link-calls.ts',
    tests: ['test/console/lost-answer.test.ts'],
    changes: [
      [
        '{ installCode: null, installLimit, note, keyed }',
        '{ installCode: null, installLimit, note }',
      ],
    ],
  },
];
