import type { MutatedFile } from '../mutation.ts';

export const doctorFiles: readonly MutatedFile[] = [
  {
    file: 'src/core/event/finding-news.ts',
    tests: ['test/core/event/finding-news.test.ts'],
    changes: [
      ['Math.min(HOUR_MS * 2 ** (returnCount - 1), DAY_MS)', '0'],
      ['if (news.length >= NEWS_MAX ||', 'if (false ||'],
      ['before === undefined && kept.size >= KEPT_MAX', 'false'],
      ['Math.min(before.absentMs ?? nowMs, nowMs)', 'before.absentMs ?? nowMs'],
      ["level === 'problem' && before?.level === 'warning'", 'before?.level !== level'],
    ],
  },
  {
    file: 'src/core/event/notify.ts',
    tests: ['test/cli/doctor-notify.test.ts'],
    changes: [["disabled === null && wantsKind(events, 'doctor.found')", 'disabled === null']],
  },
  {
    file: 'src/cli/doctor-notify.ts',
    tests: ['test/cli/doctor-notify.test.ts'],
    changes: [['if (takers.length === 0) throw new OperatorError(NO_TAKER);', '']],
  },
  {
    file: 'src/config/hidden-names.ts',
    tests: ['test/doctor/report.test.ts'],
    changes: [
      ["if (isSecret) this.add('secret', text);", 'if (isSecret) return;'],
      ["else if (isFree(value, read)) this.add('text', value);", ''],
      [".replace(EMAILS, (found) => this.#wordOf('email', found))", ''],
    ],
  },
  {
    file: 'src/doctor/names.ts',
    tests: ['test/doctor/surroundings.test.ts'],
    changes: [
      ['hasV6 || hasV4', 'hasV6'],
      ['!isProxied && settings', 'settings'],
    ],
  },
  {
    file: 'src/doctor/mounts.ts',
    tests: ['test/doctor/surroundings.test.ts'],
    changes: [
      ['one.place.length >= best.place.length', 'one.place.length > best.place.length'],
      ["place === '/' ? '/' : `${place}/`", 'place'],
    ],
  },
  {
    file: 'src/doctor/cgroup.ts',
    tests: ['test/doctor/surroundings.test.ts'],
    changes: [['return [...folders, base];', 'return [base];']],
  },
];
