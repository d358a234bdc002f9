import type { MutatedFile } from '../mutation.ts';

export const rides: readonly MutatedFile[] = [
  {
    file: 'src/core/message/locale.ts',
    tests: ['test/core/ride-text.test.ts', 'test/core/message/push.test.ts'],
    changes: [
      ["[['cn', 'zh-cn']]", '[]'],
      ["toLowerCase().replaceAll('_', '-')", 'toLowerCase()'],
      ['      tags.find(({ tag }) => tag === language) ??\n', ''],
      ['if (SCRIPTS.get(language)?.test(defaultText)) return undefined;', ''],
    ],
  },
  {
    file: 'src/core/ride/languages.ts',
    tests: ['test/core/ride-text.test.ts', 'test/http/gate-texts.test.ts'],
    changes: [
      ['wanted.sort((a, b) => b.weight - a.weight)', 'wanted'],
      ["tag !== '*' && weight > 0", "tag !== '*'"],
      [' && tag.length <= TAG_LENGTH_MAX', ''],
      [".split(',', RANGES_MAX)", ".split(',')"],
    ],
  },
  {
    file: 'src/core/ride/text.ts',
    tests: ['test/core/ride-text.test.ts', 'test/core/ride-odd.test.ts'],
    changes: [
      ['const end = lengthMax - ELLIPSIS.length;', 'const end = lengthMax;'],
      ['if (index + segment.length > end) break;', 'if (index + 1 > end) break;'],
      ['? end - 1 : end;', '? end : end;'],
      ['return blank < end / 2 ? head', 'return blank < 0 ? head'],
      ['lines.length <= linesMax && kept', 'kept'],
      [".replace(/[^\\P{Cc}\\n]/gu, ' ')", ''],
      ["return tidy === '0' ? '' : tidy;", 'return tidy;'],
      ["if (mode === 'panel' && panel !== '')", "if (mode === 'panel')"],
      ['message.length - 1;', 'message.length;'],
      ["TEXT_LINES_MAX - message.split('\\n').length", 'TEXT_LINES_MAX'],
    ],
  },
  {
    file: 'src/core/ride/form.ts',
    tests: ['test/core/ride-headers.test.ts', 'test/core/ride-odd.test.ts'],
    changes: [
      ['text.length <= VALUE_LENGTH_MAX && fits(text)', 'fits(text)'],
      [' || Number(from) > Number(to)', ''],
      ['Number(text) <= max', 'Number(text) >= min'],
      ['text.length <= lengthMax && PRINTABLE.test(text)', 'text.length <= lengthMax'],
      ['hostName(text) === text', 'true'],
      ['fits && list.length <= VALUE_LENGTH_MAX', 'fits'],
      ['more.length === 0 &&', ''],
      ['!isUrlToOpen(link)', 'false'],
      ['PRINTABLE_WORD.test(link) ? link : new URL(link).href', 'link'],
    ],
  },
  {
    file: 'src/core/ride/setting.ts',
    tests: ['test/core/ride-app.test.ts', 'test/core/ride-headers.test.ts'],
    changes: [
      ['=> RIDDEN.has(key)', '=> key !== null || RIDDEN.has(key)'],
      ["bypass: '1', off: '0'", "bypass: '1'"],
      ["mapped({ on: 'proxy', ", "mapped({ on: 'on', "],
    ],
  },
  {
    file: 'src/core/app-agent.ts',
    tests: ['test/core/ride-app.test.ts'],
    changes: [
      ['trim().toLowerCase()', 'trim()'],
      ['agent.startsWith(start)', 'agent.includes(start)'],
    ],
  },
  {
    file: 'src/core/ride/app.ts',
    tests: ['test/core/ride-app.test.ts'],
    changes: [
      ["if (part === 'update') return true;", ''],
      ['row.part === part && (hasProviderId || !row.needsProviderId)', 'row.part === part'],
      ['app !== null && (hasProviderId || !app.settingsNeedProviderId)', 'app !== null'],
    ],
  },
  {
    file: 'src/core/ride/parts.ts',
    tests: ['test/core/ride-app.test.ts'],
    changes: [
      ['        .filter(isSettingRidden)\n', ''],
      ['return [payload.change_type];', "return ['domain'];"],
    ],
  },
  {
    file: 'src/core/ride/headers.ts',
    tests: ['test/core/ride-headers.test.ts', 'test/core/ride-odd.test.ts'],
    changes: [
      ['takesOne && providerId !== null && PROVIDER_ID.test(providerId)', 'takesOne'],
      ['|| isTaken || isOver', '|| isTaken'],
      ['load.add(header, false, spare)', 'load.add(header, false)'],
      ['|| isTaken || isOver', '|| isOver'],
      ["part === 'message' && phase === 'rides'", "part === 'message'"],
      ["if (ride.phase !== 'rides' || seen.has(ride.part)) continue;", ''],
      ['if (isCleared && load.providerId !== null)', 'if (load.providerId !== null)'],
      ["isUrgent(payload) ? 'red' : 'blue'", "isUrgent(payload) ? 'blue' : 'red'"],
      ['(link === null ? bare :', '(link === null ? {} :'],
      ['    load.add({ ...box, ...bare }, true);', '    false;'],
      ['languages.map(languageOf).find', 'languages.find'],
      ["const isDone = value === '' && app.takesBack === 'absent';", 'const isDone = false;'],
      ['return isAllowed(value, hosts) ? hostName(value) : null;', 'return hostName(value);'],
      ["username === '' && password === '' && !link.includes('@')", 'true'],
      ["isPlain && isAllowed(host.replace(/:\\d+$/, ''), hosts)", 'isPlain'],
      ['text.length <= 48 ? text', 'text !== null ? text'],
    ],
  },
];
