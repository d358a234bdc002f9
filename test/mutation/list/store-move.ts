import type { MutatedFile } from '../mutation.ts';

/** Kinds of stores, and the move of all data between them. */
export const storeMove: readonly MutatedFile[] = [
  {
    file: 'src/store/cursor.ts',
    tests: ['test/store/contract/device.test.ts', 'test/store/contract/inbox.test.ts'],
    changes: [['cursor === null ? beginning : (cursor as unknown as Position)', 'beginning']],
  },
  {
    file: 'src/store/findings.ts',
    tests: ['test/store/findings.test.ts'],
    changes: [
      ['it has schema ${schema}, this program needs ${needed}', 'it has schema ${needed}'],
      ['const todo = "make a backup, then restart \'gatepost serve\'";', "const todo = '';"],
    ],
  },
  {
    file: 'src/store/move/to-server.ts',
    tests: ['test/store/move.test.ts'],
    changes: [
      ["mark === 'arriving' || ", ''],
      ["if (state === 'left') return finish(sides, job);", ''],
      ["mark === 'left' && isForced", "mark === 'left'"],
      ["if (state === 'arriving')", 'if (false)'],
      ["stateOfFile(dataDir) === 'blank'", 'false'],
      ["state?.move === 'arriving' && ", ''],
    ],
  },
  {
    file: 'src/store/move/side.ts',
    tests: ['test/store/move.test.ts'],
    changes: [
      ['if (table.isNumbered) lastIds', 'if (false) lastIds'],
      ['await to.note(job.act);', ''],
      ['if (!(await move.takes(report.audit.head)))', 'if (false)'],
      ['if (!job.isCheck) await move.release();', ''],
      ['if (head === null) return true;', 'return true;'],
    ],
  },
];
