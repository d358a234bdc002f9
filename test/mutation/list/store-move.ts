import type { MutatedFile } from '../mutation.ts';

/** Kinds of stores, and the move of all data between them. */
export const storeMove: readonly MutatedFile[] = [
  {
    file: 'src/store/cursor.ts',
    tests: ['test/store/contract/device.test.ts', 'test/store/contract/inbox.test.ts'],
    changes: [['cursor === null ? beginning : (cursor as unknown as Position)', 'beginning']],
  },
  {
    file: 'src/store/move/to-server.ts',
    tests: ['test/store/move.test.ts'],
    changes: [
      ["mark === 'arriving' || ", ''],
      ["if (state === 'left') return finish(sides, job);", ''],
      ["mark === 'left' && isForced", "mark === 'left'"],
    ],
  },
];
