import type { MutatedFile } from '../mutation.ts';

const PROBED = ['test/http/strangers.test.ts'];

export const strangers: readonly MutatedFile[] = [
  {
    file: 'src/http/strangers.ts',
    tests: PROBED,
    changes: [
      ['settings.ownHosts.length === 0) return true', 'false) return true'],
      ['if (!this.isQuiet || settings', 'if (settings'],
      ['if (restMs > 0) await clock.sleep(restMs);', ''],
      ["after === null ? {} : { 'retry-after': after }", 'headers'],
    ],
  },
  {
    file: 'src/http/request/hosts.ts',
    tests: PROBED,
    changes: [
      ["isTrusted ? headers.get('x-forwarded-host') : null", "headers.get('x-forwarded-host')"],
    ],
  },
  {
    file: 'src/http/mount.ts',
    tests: PROBED,
    changes: [
      ['response?.status === 405 ? stranger(request) : response', 'response'],
      ['strangers.isQuiet ? stranger(request) : elsewhere(request)', 'elsewhere(request)'],
      ['(isAsked ? null : stranger(request))', 'null'],
      ['(isAsked ? null : stranger(request))', 'stranger(request)'],
    ],
  },
  {
    file: 'src/http/upstream/proxy.ts',
    tests: PROBED,
    changes: [
      ["isGuess || hides === 'all' ?", 'isGuess ?'],
      ["if (hides === 'all') return deps.strangers.answer(request, startMs);", ''],
      ["hides === 'text' ? bare(response) : response", 'response'],
      ['strangers.areServed(request) ? originOf', 'true ? originOf'],
      ['if (isStrange && isUnknown && !(await passage.passesUnproven())) {', 'if (false) {'],
      ['isStrange && isUnknown && !(await passage.passesUnproven())', 'isStrange && isUnknown'],
      ['const hasLink = !passage.isNewKey && !passage.isForAll;', 'const hasLink = true;'],
      ['const hasLink = !passage.isNewKey && !passage.isForAll;', 'const hasLink = false;'],
    ],
  },
  {
    file: 'src/http/upstream/pass-on.ts',
    tests: PROBED,
    changes: [['&& !isStrange) keepFromSharedCaches', ') keepFromSharedCaches']],
  },
  {
    file: 'src/http/upstream/permit.ts',
    tests: PROBED,
    changes: [
      ["reason === 'link_not_found' || isGuess === true || isUnnamed === true", 'isGuess === true'],
    ],
  },
  {
    file: 'src/http/upstream/passage.ts',
    tests: PROBED,
    changes: [['...(isUnnamed && { isUnnamed })', '']],
  },
  {
    file: 'src/http/gate/gate.ts',
    tests: PROBED,
    changes: [
      ["if (isQuiet && says === 'gate_untrusted')", 'if (false)'],
      ['isQuiet ? bare(told) : told', 'told'],
      ['(is ? conclusion : { ...conclusion, isUnnamed: true })', 'conclusion'],
    ],
  },
  {
    file: 'src/http/gate/conclusion.ts',
    tests: PROBED,
    changes: [[' || UNNAMED.has(conclusion.says)', '']],
  },
  {
    file: 'src/live-stranger-page.ts',
    tests: ['test/stranger-page.test.ts'],
    changes: [
      ['if (!isSame) this.#page = page;', 'this.#page = page;'],
      ['if (hasFailed && !this.#hasFailed)', 'if (hasFailed)'],
      ['this.#page = hasFailed ? null : made;', 'if (!hasFailed) this.#page = made;'],
      ["settings.strangers !== 'quiet' || ", ''],
      ['if (!isWhole) return', 'if (false) return'],
    ],
  },
  {
    file: 'src/doctor/strangers.ts',
    tests: ['test/doctor/gate-settings.test.ts'],
    changes: [
      ['if (!isReached) return [];', ''],
      ['&& !isOfPanel.has(name)', ''],
    ],
  },
];
