import type { MutatedFile } from '../mutation.ts';

export const gateways: readonly MutatedFile[] = [
  {
    file: 'src/core/message/push.ts',
    tests: ['test/core/message/push.test.ts'],
    changes: [
      ['settings.gatewayCarryMessages ? inboxJson', 'true ? inboxJson'],
      ["=> type_push === 'force';", "=> type_push !== 'force';"],
      ['locale === null ? [] : [locale]', '[]'],
      ['own?.title ?? payload.title', 'payload.title'],
    ],
  },
  {
    file: 'src/core/message/push-address.ts',
    tests: ['test/core/message/push-address.test.ts'],
    changes: [
      ["gateway === 'apns' && !isApnsToken(token)", "gateway === 'apns' && false"],
      ['secret?.length !== 16', 'false'],
      ["    ECDH.convertKey(publicKey, 'prime256v1');\n", ''],
      ['if (isRefused(url))', 'if (false as boolean)'],
    ],
  },
  {
    file: 'src/gateway/answer.ts',
    tests: ['test/gateway/answers.test.ts', 'test/gateway/strict.test.ts'],
    changes: [
      ['row.code === null || row.code === code', 'true'],
      ['if (!answer.isWhole)', 'if (false as boolean)'],
      ['        this.#hasAccepted = true;\n', ''],
      ['status >= from && status <= to', 'status >= from && status < to'],
      ['status === 429 && retryAfterMs !== null', 'false'],
      ['return retryAfterMs === null', 'return true'],
      ['if (this.#hasAccepted) return', 'return'],
      ["  'foreign',\n]", ']'],
      ["  'dead',\n", ''],
      ["kind === 'address' || kind === 'unsendable'", "kind === 'address'"],
    ],
  },
  {
    file: 'src/gateway/token.ts',
    tests: ['test/gateway/answers.test.ts', 'test/gateway/strict.test.ts'],
    changes: [
      ['const REJECTED_MAX = 2;', 'const REJECTED_MAX = 1;'],
      ['nowMs >= held.fromMs && ', ''],
      ['this.#request ??= ', 'this.#request = '],
      ['if (this.#held?.value === value) this.#rejectedInARow = 0;', ''],
    ],
  },
  {
    file: 'src/gateway/parts.ts',
    tests: ['test/gateway/answers.test.ts', 'test/gateway/strict.test.ts'],
    changes: [['const TTL_SECONDS_MAX = 2_419_200;', 'const TTL_SECONDS_MAX = 2_419_201;']],
  },
  {
    file: 'src/gateway/fcm.ts',
    tests: ['test/gateway/answers.test.ts', 'test/gateway/strict.test.ts'],
    changes: [
      ['const RENEWAL_MS = 300_000;', 'const RENEWAL_MS = 0;'],
      ['...(!isSilent && { notification }),', '...{ notification },'],
      ['status !== 429 && ', ''],
      ["priority: isUrgent ? 'high' : 'normal'", "priority: 'high'"],
      ["'apns-priority': isUrgent ? '10' : '5'", "'apns-priority': '10'"],
      ["Urgency: isUrgent ? 'high' : 'normal'", "Urgency: 'high'"],
      ["'apns-push-type': isSilent ? 'background' : 'alert'", "'apns-push-type': 'alert'"],
    ],
  },
  {
    file: 'src/gateway/apns.ts',
    tests: ['test/gateway/answers.test.ts', 'test/gateway/strict.test.ts'],
    changes: [
      ['const TOKEN_LIFE_MS = 45 * 60_000;', 'const TOKEN_LIFE_MS = 40 * 60_000;'],
      ["'apns-priority': isUrgent ? '10' : '5'", "'apns-priority': '10'"],
      ["kind === 'command' ? 'background' : 'alert'", "'alert'"],
      [' || !isApnsToken(token)', ''],
      ["hash('sha256', token,", "hash('sha256', String(distributionId),"],
    ],
  },
  {
    file: 'src/gateway/webpush.ts',
    tests: ['test/gateway/answers.test.ts', 'test/gateway/strict.test.ts'],
    changes: [
      [
        'this.#answers.get(origin) ?? new AnswerJudge(TABLE)',
        'this.#answers.get("") ?? new AnswerJudge(TABLE)',
      ],
      ['fitted(content, PLAINTEXT_BYTES_MAX', 'fitted(content, PLAINTEXT_BYTES_MAX + 1'],
      ["urgency: content.isUrgent ? 'high' : 'normal'", "urgency: 'high'"],
    ],
  },
  {
    file: 'src/gateway/aes128gcm.ts',
    tests: ['test/gateway/encryption.test.ts'],
    changes: [
      ['const LAST_RECORD = Buffer.of(2);', 'const LAST_RECORD = Buffer.of(1);'],
      ['receiver.publicKey, own]', 'own, receiver.publicKey]'],
    ],
  },
  {
    file: 'src/gateway/vapid.ts',
    tests: ['test/gateway/encryption.test.ts', 'test/gateway/gateways.test.ts'],
    changes: [
      ['age >= 0 && ', ''],
      ['if (this.#tokens.size > ORIGINS_MAX && oldest !== undefined)', 'if (oldest === "")'],
      ["openSync(draft, 'wx', 0o600)", "openSync(draft, 'wx', 0o644)"],
      ["if ((error as { code?: unknown }).code === 'EEXIST') return false;", ''],
      ['  if (existsSync(path)) return false;\n', ''],
    ],
  },
  {
    file: 'src/gateway/gateways.ts',
    tests: ['test/gateway/gateways.test.ts'],
    changes: [
      ['before.madeOf[name] === plan.madeOf', 'true'],
      ['if (!APPLE_ID.test(teamId))', 'if (false as boolean)'],
    ],
  },
  {
    file: 'src/gateway/fit.ts',
    tests: ['test/gateway/fit.test.ts'],
    changes: [
      ['const short = { ...content, inboxMessage: null };', 'const short = content;'],
      ['.trimEnd()', ''],
      ['if (fits(cut(middle))) least = middle;', 'if (fits(cut(middle + 1))) least = middle;'],
    ],
  },
  {
    file: 'src/cli/gateway-test.ts',
    tests: ['test/cli/gateway-test.test.ts'],
    changes: [['push.gateway === gateway', 'true']],
  },
];
