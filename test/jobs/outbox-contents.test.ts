/** The cache of messages as gateways show them. */

import { expect, test } from 'bun:test';
import { PUSH } from '../../src/core/port/distribution.ts';
import type { FillReader } from '../../src/core/port/fill.ts';
import { PushContents } from '../../src/jobs/outbox/contents.ts';

const SETTINGS = { gatewayCarryMessages: false, outputOffsetMinutes: 0 };

function contents(more: { fill?: 1 } = {}) {
  const reads: number[] = [];
  const facts = { endsAtMs: null, totalBytes: null, usedBytes: null, readAtMs: null };
  const store = {
    findPushMessage: async (id: number) => {
      reads.push(id);
      const payload = { body: 'Hello {greeting}', type_push: 'optional', expire_days: 1, ...more };
      const times = { createdAtMs: 0, expiresAtMs: 1 };
      return { id, providerId: 1, notificationType: PUSH, ...times, payload } as const;
    },
    findFillFacts: async (readers: readonly FillReader[]) =>
      readers.map(({ deviceId }) => {
        return {
          ...facts,
          deviceCount: 1,
          installLimit: 3,
          greeting: `device ${deviceId}`,
          timeZone: null,
        };
      }),
  };
  const cache = new PushContents(store, SETTINGS);
  const render = (id: number, locale: string | null, deviceId = 1) =>
    cache.render({ distributionId: id, deviceId }, locale, 0);
  return { cache, reads, render };
}

test('attempts at the same message share one read, and one rendering for each language', async () => {
  const { cache, reads, render } = contents();
  const [one, other] = await Promise.all([render(1, 'en'), render(1, 'en')]);
  expect(one).not.toBeNull();
  expect(other).toBe(one);
  expect(await render(1, 'ru')).not.toBe(one);
  expect(cache.known(1, 'en')).toBe(one as NonNullable<typeof one>);
  expect(reads).toEqual([1]);
});

test('64 messages are kept, those that were rendered last', async () => {
  const { cache, render } = contents();
  for (let id = 1; id <= 64; id++) await render(id, null);
  await render(1, 'en');
  await render(65, null);
  expect(cache.known(1, null)).toBeDefined();
  expect(cache.known(2, null)).toBeUndefined();
});

test('a message with placeholders is rendered for each device, and read once', async () => {
  const { cache, reads, render } = contents({ fill: 1 });
  const bodies = await Promise.all([1, 2].map((deviceId) => render(1, 'en', deviceId)));
  expect(bodies.map((content) => content?.body)).toEqual(['Hello device 1', 'Hello device 2']);
  expect(cache.known(1, 'en')).toBeUndefined();
  expect(reads).toEqual([1]);
  // Without the mark braces are text.
  expect((await contents().render(1, 'en'))?.body).toBe('Hello {greeting}');
});
