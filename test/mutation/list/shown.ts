import type { MutatedFile } from '../mutation.ts';

/** The tests of the console's pages, which compare what is shown with a recount. */
const SHOWN = ['test/console/shown.test.ts'];

export const shown: readonly MutatedFile[] = [
  {
    file: 'src/console/pages/overview.tsx',
    tests: SHOWN,
    changes: [
      ['up: one.admitted,', 'up: one.seen,'],
      ["'refused_disabled', 'refused_full'] as const", "'refused_disabled'] as const"],
      ['value={number(found.fullCount)}', 'value={number(found.linkCount)}'],
      ['words.ofMax(number(found.linkCountMax))', 'words.ofMax(number(found.linkCount))'],
      ['<Share of={count / most} />', '<Share of={1} />'],
      ['words.refusalCount(one.refusedCount)', 'words.refusalCount(1)'],
      ['words.usedOf(shown(used), shown(max))', 'words.usedOf(shown(max), shown(used))'],
    ],
  },
  {
    file: 'src/console/pages/operator/health.tsx',
    tests: SHOWN,
    changes: [
      [
        'words.ofAll(number(loopLateCount), number(loopCount))',
        'words.ofAll(number(loopCount), number(loopLateCount))',
      ],
      ['number(loopLagSeconds * 1_000)', 'number(loopLagSeconds)'],
      [
        'words.ofAll(number(openFiles), number(openFilesMax))',
        'words.ofAll(number(openFilesMax), number(openFiles))',
      ],
      ["process.isDatabaseFile ? 'SQLite' : 'PostgreSQL'", "'SQLite'"],
      ['[words.due, number(queue.dueCount)]', '[words.due, number(queue.scheduledCount)]'],
      ['endsMs - nowMs() < SOON_MS', 'false'],
      ['health.process.notReady !== null && (', 'false && ('],
      ['[words.diskFree, bytes(storage.diskFreeBytes)]', '[words.diskFree, bytes(storage.bytes)]'],
    ],
  },
  {
    file: 'src/console/pages/operator/gateways.tsx',
    tests: SHOWN,
    changes: [
      ['if (!isSetUp) return', 'if (false) return'],
      ['if (failingCount === 0) return', 'if (true) return'],
      [
        '<td class="number">{number(of.waitingCount)}</td>',
        '<td class="number">{number(of.serviceCount)}</td>',
      ],
      ['of.stoppedAtMs !== null && <p', 'false && <p'],
      ["disabled === null ? 'badge warm' : 'badge bad'", "'badge warm'"],
      ['disabled === null ? words.states.failing : texts.common.off', 'words.states.failing'],
      ['failingSinceMs !== null && <p', 'false && <p'],
    ],
  },
  {
    file: 'src/console/pages/link-panel.tsx',
    tests: SHOWN,
    changes: [
      [
        'texts.links.ofLimit(number(shown.deviceCount), number(shown.limit))',
        'texts.links.ofLimit(number(shown.limit), number(shown.deviceCount))',
      ],
      ['`${systemName(os)} ${osVersion}`.trim()', 'systemName(os)'],
      ['`${app} ${appVersion}`.trim()', 'app'],
      [
        '<bdi class="code">{hwid}</bdi>\n        {device',
        '<bdi class="code">{deviceName}</bdi>\n        {device',
      ],
    ],
  },
  {
    file: 'src/http/console/answer.ts',
    tests: ['test/http/console/large-answers.test.ts'],
    changes: [['const isAdmitted = !isLarge(body) ||', 'const isAdmitted = true ||']],
  },
  {
    file: 'src/http/my/view.ts',
    tests: ['test/http/my-view.test.ts'],
    changes: [
      ['sameUtcDay(seenAtMs, nowMs)\n    ? 0\n    : ', ''],
      ['Math.max(1, Math.floor(nowMs / DAY_MS)', '(Math.floor(nowMs / DAY_MS)'],
      ['days < 60 ?', 'days < 59 ?'],
      ['afterMs < HOUR_MS', 'afterMs <= HOUR_MS'],
      ['characters.length <= NAME_LENGTH_MAX', 'characters.length < NAME_LENGTH_MAX'],
      ['isSharedHwid(place.hwid) ? texts.shared : nameOf(place, texts)', 'nameOf(place, texts)'],
      ['short(SYSTEMS.get(os) ?? os) || texts.unnamed', 'texts.unnamed'],
      ['`${SYSTEMS.get(os) ?? os} ${osVersion}`.trim()', '(SYSTEMS.get(os) ?? os)'],
      ['place.isThis ?', 'false ?'],
      ['Math.max(0, from - PLACES_EACH)', '0'],
      ['next < places.length', 'next <= places.length'],
      ['refused !== null && said === null', 'refused !== null'],
      ['waiting && isFull(link) ?', 'waiting ?'],
      [
        'if (view.nowMs >= freeFromMs) return texts.waiting(name);',
        'if (view) return texts.waiting(name);',
      ],
      ['hasNews ? newsCard', 'false ? newsCard'],
      ['link.myName ?? texts.title', 'texts.title'],
      [
        'texts.taken(number(link.deviceCount), number(link.installLimit))',
        'texts.taken(number(link.installLimit), number(link.deviceCount))',
      ],
    ],
  },
];
