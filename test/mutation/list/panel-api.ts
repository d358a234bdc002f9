/** Questions to the APIs of panels, and the answers at the door. */

import type { MutatedFile } from '../mutation.ts';

const LIMITS = ['test/http/upstream/panel-limits.test.ts'];
const BACK = ['test/http/upstream/coming-back.test.ts'];
const ENTRY = ['test/http/gate-panel.test.ts'];
const FAULTS = ['test/http/upstream/panel-api-faults.test.ts'];

export const panelApi: readonly MutatedFile[] = [
  {
    file: 'src/core/panel/api.ts',
    tests: FAULTS,
    changes: [
      ['[401, 403, 429].includes(status)', '[400, 401, 403, 429].includes(status)'],
      ['[401, 403, 429].includes(status)', 'false'],
      ['.test(name) ? null :', '.test(name) && false ? null :'],
    ],
  },
  {
    file: 'src/core/panel/access-headers.ts',
    tests: ['test/config/secret-files.test.ts'],
    changes: [
      [' || NOT_THEIRS.test(name)) return', ') return'],
      ['lines.length === 0 || lines.length > HEADERS_MAX', 'lines.length > HEADERS_MAX'],
      ['lines.length === 0 || lines.length > HEADERS_MAX', 'lines.length === 0'],
      ['if (Object.hasOwn(headers, name.toLowerCase())) return null;', ''],
    ],
  },
  {
    file: 'src/core/panel/three-x-ui.ts',
    tests: [...LIMITS, ...BACK],
    changes: [
      ['isEnabled: enable === true,', 'isEnabled: true,'],
      ["some((client) => client['enable'] === true)", 'some(() => true)'],
      ["(client) => client['subId'] === key", '() => true'],
    ],
  },
  {
    file: 'src/core/panel/pasarguard.ts',
    tests: [...LIMITS, ...BACK],
    changes: [['isOn: enabled !== false,', 'isOn: true,']],
  },
  {
    file: 'src/core/panel/remnawave.ts',
    tests: [...LIMITS, ...BACK],
    changes: [
      ['isOn: enabled === true, fallback', 'isOn: true, fallback'],
      ["record['status'] === 'ACTIVE'", 'true'],
    ],
  },
  {
    file: 'src/core/panel/marzban.ts',
    tests: BACK,
    changes: [["status === 'active' || status === 'on_hold'", 'true']],
  },
  {
    file: 'src/core/panel/hiddify.ts',
    tests: BACK,
    changes: [['enable && isActive === true', 'true']],
  },
  {
    file: 'src/core/panel/proof.ts',
    tests: [...BACK, 'test/store/contract/move.test.ts'],
    changes: [
      ['if (!panelUser?.startsWith(`${panel}:`)) return false;', ''],
      ['|| facts.subscriptionKeyHash === subscriptionKeyHash', '|| true'],
      ['if (facts !== null && isProvedBy(panel, before)) return null;', ''],
    ],
  },
  {
    file: 'src/http/upstream/panel-api.ts',
    tests: [...LIMITS, ...BACK, ...ENTRY, ...FAULTS, 'test/http/upstream/access-headers.test.ts'],
    changes: [
      ['>= this.holdsMs &&', '>= 0 &&'],
      ['if (this.deps.clock.steadyMs() < this.#pauseUntilMs) return false;', ''],
      ['if (begun !== undefined) return begun;', ''],
      [
        'const signal = AbortSignal.timeout(ASK_MAX_MS);\n    const ask',
        'const signal = new AbortController().signal;\n    const ask',
      ],
      ["if (!saysNoUser(json)) throw new Silent('API_404');", ''],
      ['new Silent(`API_${status}`, isStatusOfPanel(status))', 'new Silent(`API_${status}`, true)'],
      ['!OF_QUESTION.includes(kind)', 'true'],
      ['{ ...access, ...token }', '{ ...token, ...access }'],
      ['statusOf(client, path, access, signal)', 'statusOf(client, path, {}, signal)'],
    ],
  },
  {
    file: 'src/http/upstream/panel-limits.ts',
    tests: LIMITS,
    changes: [
      ['Math.max(limit, link.deviceCount)', 'limit'],
      ['if (installLimit > limit) remember', 'if (false) remember'],
      ['if (!isProvedBy(source.panel, tied)) {', 'if (false) {'],
    ],
  },
  {
    file: 'src/http/upstream/panel-users.ts',
    tests: BACK,
    changes: [
      ['if (!isProvedBy(source.panel, link)) return false;', ''],
      ['if (!isActive(await states.of(key))) return false;', ''],
      [
        'if (!states.isDue(key) && !isActive(states.last(key))) return false;',
        'if (states.last(key) !== null) return false;',
      ],
      ['!isDisabledByImport(link.status, link.facts)', 'false'],
    ],
  },
  {
    file: 'src/http/upstream/panel-entry.ts',
    tests: ENTRY,
    changes: [
      [
        'createdAtMs > token.signedAtMs) return false',
        'createdAtMs > token.signedAtMs) return true',
      ],
      ["if ((await infoOf(fresh)) !== 200) throw new Silent('API_INFO');", ''],
      ['if (link === null || !isProvedBy(source.panel, link)) return true;', ''],
      ['before.asked >= TOKENS_MAX', 'false'],
      ['signedAtMs > sinceMs ? null : false', 'false'],
      ['if (signedAtMs >= validFromMs) return true;', ''],
      ['signedAtMs <= endedUntilMs ? false : null', 'null'],
    ],
  },
  {
    file: 'src/http/gate/gate-panel.ts',
    tests: ENTRY,
    changes: [
      ["judged.verdict !== 'known' && ", ''],
      ["judged.verdict === 'link_disabled' && ", 'false && '],
      ['return !isNew || panel.admits', 'return panel.admits'],
    ],
  },
  {
    file: 'src/store/noun/panel-tie.ts',
    tests: ['test/store/contract/move.test.ts'],
    changes: [
      ['if (owner.hasFacts === 1) return false;', ''],
      ['yield* tie(owner.id, null, null);', ''],
      ['!isDisabledByImport(link.status, link.facts)', 'false'],
    ],
  },
  {
    file: 'src/store/noun/install-rows.ts',
    tests: ['test/store/contract/move.test.ts'],
    changes: [['THEN NULL ELSE panel_user END', 'THEN panel_user ELSE panel_user END']],
  },
  {
    file: 'src/cli/link-imported.ts',
    tests: ['test/cli/link-imported.test.ts'],
    changes: [
      ['if (!all) return list(context, options, links);', ''],
      ['isDisabledByImport: true', 'isDisabledByImport: false'],
    ],
  },
];
