/** Findings about a database of either kind. */

import { expect, test } from 'bun:test';
import { USUAL_WEBHOOK } from '../../src/core/webhook-fields.ts';
import { olderSchemaFinding } from '../../src/store/findings.ts';
import { disabledFindings } from '../../src/store/noun/disabled-findings.ts';

test('a schema that is older than the program is a warning with what to do', () => {
  expect(olderSchemaFinding(7, 9)).toEqual({
    name: 'schema_older',
    subject: null,
    level: 'warning',
    check: 'database',
    what: 'it has schema 7, this program needs 9',
    todo: "make a backup, then restart 'gatepost serve'",
  });
});

test('disabled webhooks: a problem for each of the operator, a warning for each provider', () => {
  const one = (id: number, code: string | null, kind: 'webhook' | 'telegram') => ({
    id,
    providerId: code === null ? null : 1,
    ...USUAL_WEBHOOK,
    secret: '',
    ...(code !== null && { providerCode: code }),
    target:
      kind === 'webhook'
        ? ({ kind, url: 'https://bot.example.com/', scheme: 'v1' } as const)
        : ({ kind, chat: '-100', locale: 'en' } as const),
    previous: null,
    createdAtMs: 0,
    disabled: { atMs: 1, why: `it answered 41${id}` },
  });
  const some = [
    one(3, null, 'telegram'),
    one(4, null, 'webhook'),
    one(6, 'Provide1', 'telegram'),
    one(5, 'Provide1', 'webhook'),
  ];
  const found = disabledFindings({ operatorCount: 2, providerCount: 2, some });
  expect(found.map(({ name, level, subject }) => [name, level, subject])).toEqual([
    ['webhook_disabled', 'problem', '3'],
    ['webhook_disabled', 'problem', '4'],
    ['provider_webhooks_disabled', 'warning', 'Provide1'],
  ]);
  expect(found[0]).toMatchObject({
    what: "the operator's Telegram chat, webhook 3 is disabled: it answered 413",
    todo: "mend that, then 'gatepost webhook set 3 --enable'; until then it gets no events",
  });
  expect(found[2]?.what).toBe(
    'of provider Provide1 webhooks are disabled (6, 5), the last one because it answered 416',
  );
});
