import type { MutatedFile } from '../mutation.ts';

export const doctor: readonly MutatedFile[] = [
  {
    file: 'src/doctor/server.ts',
    tests: ['test/doctor/situations-serving.test.ts', 'test/doctor/situations.test.ts'],
    changes: [
      ['answer.headers.get(IDENTITY_HEADER) !== identity', 'false'],
      ["return answer.ok ? 'serves'", "return answer.status > 0 ? 'serves'"],
      ["    return 'silent';\n  }\n}", "    return 'serves';\n  }\n}"],
      ['if (otherNodes.length === 0) return', 'if (otherNodes.length > 0) return'],
    ],
  },
  {
    file: 'src/doctor/address.ts',
    tests: ['test/doctor/situations.test.ts'],
    changes: [['return isAbsent\n', 'return !isAbsent\n']],
  },
  {
    file: 'src/doctor/causes.ts',
    tests: ['test/doctor/situations.test.ts'],
    changes: [['if (effects.has(name) || known.has(cause)) return false;', '']],
  },
  {
    file: 'src/doctor/public.ts',
    tests: ['test/doctor/public.test.ts'],
    changes: [
      ["url.protocol === 'https:'", 'true'],
      ['header(PROBE_HEADER) !== signature', 'false'],
      ['if (apartMs >= PROBE_PAUSE_MS / 2) return false;', 'return false;'],
      ['answer.status === 101', 'answer.status > 0'],
      ["answer.header('announce')?.length === PROBE_FILL_BYTES", 'answer.status > 0'],
    ],
  },
  {
    file: 'src/doctor/hourly.ts',
    tests: ['test/doctor/public.test.ts'],
    changes: [['Math.abs(nowMs - kept.atMs) < HOUR_MS', 'false']],
  },
  {
    file: 'src/core/public-probe.ts',
    tests: ['test/doctor/public.test.ts'],
    changes: [
      ['Math.abs(nowMs - Number(atMs)) > LIFE_MS', 'false'],
      ['return timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(key, atMs)));', 'return true;'],
    ],
  },
  {
    file: 'src/config/nearest.ts',
    tests: ['test/config/nearest.test.ts'],
    changes: [
      ['best.score <= DIFFERENT_MAX', 'best.score <= 2'],
      ['if (given.length > LENGTH_MAX) return null;', ''],
    ],
  },
  {
    file: 'src/config/public-address.ts',
    tests: ['test/config/public-address.test.ts'],
    changes: [
      [
        "const isClosed = strangers === 'quiet' && ownHosts.length > 0;\n  const answers",
        'const isClosed = false;\n  const answers',
      ],
      ['!isOfPanel.has(host),', 'true,'],
    ],
  },
  {
    file: 'src/doctor/open-files.ts',
    tests: ['test/doctor/doctor.test.ts'],
    changes: [
      ['streamCountMax + OTHER_DESCRIPTORS', 'streamCountMax'],
      ['if (!(Number(limit) < need))', 'if (Number(limit) >= need)'],
      ['[...limits].at(-1)', '[...limits].at(0)'],
      ['[...dropIns.keys()].sort()', '[...dropIns.keys()]'],
      [".filter((one) => one.endsWith('.conf'))", ''],
    ],
  },
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
