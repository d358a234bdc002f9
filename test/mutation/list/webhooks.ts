import type { MutatedFile } from '../mutation.ts';

/** Webhooks: signatures, secrets, answers, who may have what. */
export const webhooks: readonly MutatedFile[] = [
  {
    file: 'src/webhook/signature.ts',
    tests: ['test/webhook/signature.test.ts'],
    changes: [
      ['nowMs < previous.untilMs', 'true'],
      ['[secret, previous.secret]', '[secret]'],
      ["signatureOf(one, content)).join(' ')", "signatureOf(one, content)).join(',')"],
      ['`${id}.${timestamp}.${body}`', '`${timestamp}.${body}`'],
      ['Math.floor(nowMs / 1000)', 'nowMs'],
      ['`evt_test_${atMs}`', '`evt_${id}`'],
      ['`evt_${id}_${atMs.toString(36)}`', '`evt_${id}`'],
    ],
  },
  {
    file: 'src/core/webhook-key.ts',
    tests: ['test/webhook/signature.test.ts'],
    changes: [
      ['subarray(HALF_BYTES)', 'subarray(0, HALF_BYTES)'],
      ['const SYMMETRIC_BYTES = 32;', 'const SYMMETRIC_BYTES = 16;'],
    ],
  },
  {
    file: 'src/webhook/answers.ts',
    tests: ['test/webhook/answers.test.ts'],
    changes: [
      ['row(200, 299', 'row(200, 399'],
      ["row(410, 410, 'dead'", "row(410, 410, 'retry'"],
      ['verdictOfExcess(retryAfterMs, problem)', 'verdictOfExcess(null, problem)'],
    ],
  },
  {
    file: 'src/webhook/telegram/errors.ts',
    tests: ['test/webhook/answers.test.ts'],
    changes: [
      ["row(401, [], 'credentials'", "row(401, [], 'retry'"],
      ["row(400, [], 'failed'", "row(400, [], 'retry'"],
      ["...['TOPIC_CLOSED', 'TOPIC_DELETED',", "...['TOPIC_DELETED',"],
      ['`${row.about} (${name})`', 'row.about'],
    ],
  },
  {
    file: 'src/core/event/fold.ts',
    tests: ['test/core/event/fold.test.ts'],
    changes: [
      ['phone.isFirst && address !== null &&', 'address !== null &&'],
      ['nowMs < known.lastMs + TOGETHER_MS', 'false'],
      ['fold.told >= CHAT_MESSAGES_MAX', 'false'],
      ['(known?.told ?? 0) >= LINK_MESSAGES_MAX', 'false'],
      ['keyFingerprint(hashKey(phone.address))', 'phone.address'],
      ['nowMs >= foldEndMs(fold) || nowMs', 'nowMs'],
      ['.slice(0, LINKS_NAMED_MAX)', ''],
    ],
  },
  {
    file: 'src/store/noun/event-fold.ts',
    tests: ['test/store/event-notes.test.ts', 'test/store/contract/event.test.ts'],
    changes: [
      ['known === null || !isFoldOver(known, nowMs)', 'known === null'],
      ['known && sumOfFold(known)', 'null'],
      ['this.#folds.set(id, null);', ''],
    ],
  },
  {
    file: 'src/store/noun/disabled-webhook.ts',
    tests: ['test/store/contract/event.test.ts'],
    changes: [
      ['NOT IN (${DISABLED_BY_OWNER}, ', 'NOT IN ('],
      ['ORDER BY w.provider_id IS NOT NULL, ', 'ORDER BY '],
    ],
  },
  {
    file: 'src/webhook/telegram/answers.ts',
    tests: ['test/webhook/answers.test.ts'],
    changes: [
      ['seconds * 1000', 'seconds'],
      ['seconds === null || seconds < 0', 'seconds === null'],
      ["status >= 200 && status <= 299 ? 'ok' : null", "'ok'"],
    ],
  },
  {
    file: 'src/webhook/telegram/text.ts',
    tests: ['test/webhook/telegram-text.test.ts'],
    changes: [
      [".replaceAll('<', '&lt;')", ''],
      ['withoutUnseen(value)', 'value'],
      ['characters.length > VALUE_LENGTH_MAX', 'false'],
      ["words.isRightToLeft ? RIGHT_TO_LEFT_MARK : ''", "''"],
      ['if (!this.language.isRightToLeft) return value;', 'return value;'],
      ["['percent']) < 100", "['percent']) < 0"],
    ],
  },
  {
    file: 'src/webhook/standard.ts',
    tests: ['test/webhook/senders.test.ts'],
    changes: [
      ['...(providerId === null', '...(true'],
      ['...signedHeaders(webhook, messageId(event), body, nowMs),', ''],
    ],
  },
  {
    file: 'src/webhook/telegram/sender.ts',
    tests: ['test/webhook/senders.test.ts'],
    changes: [
      ["      parse_mode: 'HTML',\n", ''],
      ['link_preview_options: { is_disabled: true }', 'link_preview_options: {}'],
    ],
  },
  {
    file: 'src/webhook/telegram/formats.ts',
    tests: ['test/webhook/telegram-text.test.ts'],
    changes: [
      ['this.#percent.format(value / 100)', 'this.#percent.format(value)'],
      ["timeZone: 'UTC'", "timeZone: 'Asia/Tehran'"],
      ['Math.log10(Math.max(value, 1)) / 3', 'Math.log10(Math.max(value, 1)) / 4'],
    ],
  },
  {
    file: 'src/core/webhook.ts',
    tests: ['test/cli/webhook.test.ts'],
    changes: [
      ['readPublicUrl(target.url, core.limits)', 'readOperatorUrl(target.url)'],
      [
        'ownerId === null ? OPERATOR_EVENTS : PROVIDER_EVENTS',
        '[...OPERATOR_EVENTS, ...PROVIDER_EVENTS]',
      ],
      ["if (read.hash !== '')", 'if (false)'],
      [
        "target.kind === 'webhook' && keepOldMs > 0",
        "target.kind === 'webhook' && target.scheme === 'v1' && keepOldMs > 0",
      ],
    ],
  },
  {
    file: 'src/core/webhook-view.ts',
    tests: ['test/http/webhook-secrets.test.ts'],
    changes: [
      ['isUrl ? shownUrl(target.url) : null', 'isUrl ? target.url : null'],
      ["secret.replace(/:.*/s, '')", 'secret'],
    ],
  },
  {
    file: 'src/core/webhook.ts',
    tests: ['test/http/webhook-again.test.ts'],
    changes: [
      ["if (verdict.verdict === 'accepted') {", 'if (false) {'],
      ["if (verdict.verdict === 'accepted') {", '{'],
      ['change.events !== undefined) await', 'false) await'],
      ['if (events.length === 0) return;', ''],
    ],
  },
  {
    file: 'src/http/endpoints/webhook-deliveries.ts',
    tests: ['test/http/webhook-replay.test.ts', 'test/http/coverage/webhook.test.ts'],
    changes: [
      ['Math.max(delivery.stateAtMs, delivery.atMs)', 'delivery.atMs'],
      ['attempts: delivery.attemptCount', 'attempts: 0'],
      ['running.has(provider) || !perMinute', '!perMinute'],
      ['running.delete(provider);', ''],
    ],
  },
];
