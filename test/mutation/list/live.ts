import type { MutatedFile } from '../mutation.ts';

/** The streams of open pages. */
export const liveFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/changes.ts',
    tests: ['test/store/contract/change.test.ts'],
    changes: [
      ['if (mark === this.#mark && ', 'if (mark === null && '],
      ['!known.slotEnds.has(id)', 'known.slotEnds.has(id)'],
      ['all.size > NAMED_MAX ? ALL', 'all.size < 0 ? ALL'],
      ["action.startsWith('install.') ||", ''],
    ],
  },
  {
    file: 'src/store/noun/change.ts',
    tests: ['test/store/contract/change.test.ts'],
    changes: [["concat_ws(':', status,", "concat_ws(':', id,"]],
  },
  {
    file: 'src/http/console/stream.ts',
    tests: ['test/http/console/stream.test.ts'],
    changes: [
      ['if (!(await this.#isGood(stream))) {', 'if (stream.isOver) {'],
      ['!mayWatch(signedIn, provider)) return new', 'provider.id < 0) return new'],
      ['sessionId).length >= session', 'sessionId).length < 0'],
      ['surplus?.end();', ''],
      ["isOperators ? 'operators' : 'providers'", "'providers'"],
      ['isOperators ? owner : `provider ${provider.id}`', 'owner'],
      ["deps.stopping.addEventListener('abort', () => this.endAll());", ''],
    ],
  },
  {
    file: 'src/http/console/page.ts',
    tests: ['test/console/frame.test.ts'],
    changes: [
      ['isSignedIn ? bundle.pages', '!isSignedIn ? bundle.pages'],
      ['...(bundle.imports.get(name) ?? [])', ''],
    ],
  },
  {
    file: 'src/console/parts/live.ts',
    tests: ['test/console/frame.test.ts'],
    changes: [
      ["if (end === 'silent') note(true);", "if (end === 'silent') note(false);"],
      ['await askMe().catch(() => note(true));', ''],
      ['if (event.isOver) void askMe().catch(() => undefined);', 'if (event.isOver) return;'],
    ],
  },
  {
    file: 'src/console/parts/page-file.ts',
    tests: ['test/console/frame.test.ts'],
    changes: [['=== version()) return false;', "=== '') return false;"]],
  },
];
