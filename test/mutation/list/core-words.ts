import type { MutatedFile } from '../mutation.ts';

export const coreWords: readonly MutatedFile[] = [
  {
    file: 'src/core/moving/source-record.ts',
    tests: ['test/core/moving/source-record.test.ts'],
    changes: [
      [`status: fit(fields, 'status', readDomainStatus),`, 'status: 10,'],
      [`status: fit(fields, 'status', readInstallStatus),`, 'status: 10,'],
      [
        `return typeof value === 'string' ? value : MISFIT;`,
        `return typeof value !== 'string' ? value : MISFIT;`,
      ],
    ],
  },
  {
    file: 'src/core/json-input.ts',
    tests: [
      'test/core/json-input.test.ts',
      'test/core/message/target.test.ts',
      'test/http/remote-body.test.ts',
    ],
    changes: [
      ["if (shape === 'deep') return", "if (shape !== 'deep') return"],
      [`if (value === true || value === 'true' || value === 1 || value === '1') return true;`, ''],
      [
        `if (value === false || value === 'false' || value === 0 || value === '0') return false;`,
        `if (value === false || value === 'false' && value === 0 || value === '0') return false;`,
      ],
    ],
  },
  {
    file: 'src/core/provider.ts',
    tests: ['test/core/provider.test.ts', 'test/http/credentials.test.ts', 'test/http/coverage'],
    changes: [
      ["if (!isActive(provider, nowMs)) return 'subscription_required';", ''],
      ["mayNotify(provider, nowMs) ? null : 'enterprise_required'", 'null'],
      [
        'return provider.activeUntilMs === null || nowMs < provider.activeUntilMs;',
        'return provider.activeUntilMs !== null || nowMs < provider.activeUntilMs;',
      ],
      [
        'const outcome = await core.store.rotateKey(code, hashKey(authKey), nowMs + keepOldMs, act);',
        'const outcome = core.store.rotateKey(code, hashKey(authKey), nowMs + keepOldMs, act);',
      ],
    ],
  },
  {
    file: 'src/core/message/schedule.ts',
    tests: ['test/core/message/schedule.test.ts'],
    changes: [
      ['export const DAYS_AHEAD_MAX = 365;', 'export const DAYS_AHEAD_MAX = 366;'],
      [
        `if (timeOfDayMs === null) return malformed('send_time must be a time of day as HH:MM');`,
        '',
      ],
      ['const dueAtMs = midnightMs + timeOfDayMs;', 'const dueAtMs = midnightMs - timeOfDayMs;'],
    ],
  },
  {
    file: 'src/core/secret.ts',
    tests: ['test/core/secret.test.ts'],
    changes: [
      [
        'if (byte < 248 && code.length < length) code += ALPHANUMERIC.charAt(byte % 62);',
        'if (byte <= 248 && code.length < length) code += ALPHANUMERIC.charAt(byte % 62);',
      ],
      [
        'if (byte < 248 && code.length < length) code += ALPHANUMERIC.charAt(byte % 62);',
        'if (byte < 248 || code.length < length) code += ALPHANUMERIC.charAt(byte % 62);',
      ],
      [
        'if (byte < 248 && code.length < length) code += ALPHANUMERIC.charAt(byte % 62);',
        'if (byte < 248 && code.length <= length) code += ALPHANUMERIC.charAt(byte % 62);',
      ],
    ],
  },
  {
    file: 'src/core/message/settings.ts',
    tests: ['test/core/message/settings.test.ts'],
    changes: [
      [
        `rule: 'true or false, 1 or 0, on or off, yes or no'`,
        `rule: 'false or false, 1 or 0, on or off, yes or no'`,
      ],
      ['if (known && rule !== null && !known.isNewer) {', 'if (known && rule !== null) {'],
      ['    checked.push([key, value]);', '    if (rule === null) checked.push([key, value]);'],
      ['number >= min && number <= max', 'number > min && number <= max'],
      ['if (first !== undefined && checked.length === 0) return malformed(first);', ''],
      [
        "return value === '' || fits(known, value) ? null : `be ${settingRule(known)}`;",
        "return value === '' && fits(known, value) ? null : `be ${settingRule(known)}`;",
      ],
    ],
  },
  {
    file: 'src/core/message/target.ts',
    tests: ['test/core/message/target.test.ts'],
    changes: [
      ['const HWID_LIST_LENGTH_MAX = 4096;', 'const HWID_LIST_LENGTH_MAX = 4097;'],
      [`if (typeof value === 'string' && value.length > OS_LIST_LENGTH_MAX) return rule;`, ''],
      [
        `if (typeof value === 'string' && value.length > OS_LIST_LENGTH_MAX) return rule;`,
        `if (typeof value === 'string' || value.length > OS_LIST_LENGTH_MAX) return rule;`,
      ],
    ],
  },
  {
    file: 'src/core/formats.ts',
    tests: [
      ...['test/core/formats.test.ts', 'test/core/text.test.ts', 'test/core/key-path.test.ts'],
      'test/core/panel/token.test.ts',
    ],
    changes: [
      [
        'number >= minimum && number <= maximum ? number : misfit',
        'number > minimum && number <= maximum ? number : misfit',
      ],
      ['export const ONE_LINE_LENGTH_MAX = 255;', 'export const ONE_LINE_LENGTH_MAX = 256;'],
      [
        `typeof value === 'string' && pattern.test(value) ? value`,
        `typeof value === 'string' ? value`,
      ],
      ['(?!\\.{1,2}$)', ''],
      ['[\\p{DI}\\p{White_Space}]', '[\\p{White_Space}]'],
      ['[\\p{DI}\\p{White_Space}]', '[\\p{DI}]'],
      ['[^/\\\\\\p{Cc}', '[^/\\\\'],
      ['(?:[1-9]\\d{0,14}|name/', '(?:\\d{1,15}|name/'],
      [
        'export const INSTALL_LIMIT = whole(1, 100);',
        'export const INSTALL_LIMIT = whole(0, 100);',
      ],
    ],
  },
  {
    file: 'src/core/text.ts',
    tests: ['test/core/text.test.ts'],
    changes: [
      [
        'if (value.length <= lengthMax && TIDY.test(value)) return value;',
        'if (value.length <= lengthMax || TIDY.test(value)) return value;',
      ],
    ],
  },
  {
    file: 'src/core/signals.ts',
    tests: ['test/http/messaging-inbox.test.ts', 'test/http/stream.test.ts'],
    changes: [
      ['[...(byDevice.get(deviceId) ?? []), listener]', '[listener]'],
      ['if (others.length > 0) byDevice.set(deviceId, others);', ''],
      ['else byDevice.delete(deviceId);', ''],
      [
        'return this.#waiting.size === 0 ? [] : deviceIds.filter((id) => this.#waiting.has(id));',
        'return this.#waiting.size !== 0 ? [] : deviceIds.filter((id) => this.#waiting.has(id));',
      ],
    ],
  },
];
