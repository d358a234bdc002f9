/** The cache of messages as gateways show them. */

import { expect, test } from 'bun:test';
import { PUSH } from '../../src/core/port/distribution.ts';
import { PushContents } from '../../src/jobs/outbox/contents.ts';

const SETTINGS = { gatewayCarryMessages: false, outputOffsetMinutes: 0 };

function contents() {
  const reads: number[] = [];
  const cache = new PushContents(async (id) => {
    reads.push(id);
    const payload = { body: 'Hello', type_push: 'optional', expire_days: 1 } as const;
    return { id, notificationType: PUSH, createdAtMs: 0, expiresAtMs: 1, payload };
  }, SETTINGS);
  return { cache, reads };
}

test('attempts at the same message share one read, and one rendering for each language', async () => {
  const { cache, reads } = contents();
  const [one, other] = await Promise.all([cache.render(1, 'en'), cache.render(1, 'en')]);
  expect(one).not.toBeNull();
  expect(other).toBe(one);
  expect(await cache.render(1, 'ru')).not.toBe(one);
  expect(cache.known(1, 'en')).toBe(one as NonNullable<typeof one>);
  expect(reads).toEqual([1]);
});

test('64 messages are kept, those that were rendered last', async () => {
  const { cache } = contents();
  for (let id = 1; id <= 64; id++) await cache.render(id, null);
  await cache.render(1, 'en');
  await cache.render(65, null);
  expect(cache.known(1, null)).toBeDefined();
  expect(cache.known(2, null)).toBeUndefined();
});
