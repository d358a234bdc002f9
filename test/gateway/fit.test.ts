import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { PushContent } from '../../src/core/port/outbox.ts';
import { fitted } from '../../src/gateway/fit.ts';
import { contentAt } from '../support/gateway.ts';

const compose = ({ id, title, body, link, image, inboxMessage }: PushContent) => ({
  id,
  title,
  body,
  link,
  image,
  ...(inboxMessage !== null && { message: inboxMessage }),
});
const fit = (change: Partial<PushContent>, bytesMax: number) =>
  JSON.parse(fitted(contentAt(0, change), bytesMax, compose));

test('what fits travels as it is', () => {
  const message = '{"id":7}';
  expect(fit({ inboxMessage: message }, 4096)).toMatchObject({ body: 'Hello', message });
});

test('the whole message is left out first', () => {
  const sent = fit({ inboxMessage: 'x'.repeat(4096) }, 4096);
  expect(sent).toMatchObject({ title: 'News', body: 'Hello', link: 'https://news.example/1' });
  expect(sent.message).toBeUndefined();
});

test('then the body is cut at a character', () => {
  for (let bytesMax = 1_000; bytesMax < 1_008; bytesMax++) {
    const sent = fit({ body: '😀'.repeat(2_000) }, bytesMax);
    expect(sent.body).toMatch(/^(?:😀)+…$/u);
    expect(sent).toMatchObject({ link: 'https://news.example/1', title: 'News' });
  }
});

test('as much of it stays as fits', () => {
  const json = fitted(contentAt(0, { body: 'x'.repeat(5_000) }), 1_000, compose);
  expect(Buffer.byteLength(json)).toBe(1_000);
});

test('no blank stands before the mark of the cut', () => {
  for (let bytesMax = 500; bytesMax < 510; bytesMax++) {
    expect(fit({ body: 'word '.repeat(1_000) }, bytesMax).body).toMatch(/\S…$/);
  }
});

test('then picture and link go, then the end of the title', () => {
  const long = { link: `https://l.example/${'x'.repeat(900)}`, body: 'x'.repeat(900) };
  expect(fit(long, 500)).toMatchObject({ link: null, image: null, title: 'News' });
  expect(fit({ ...long, title: 'Т'.repeat(900) }, 200)).toMatchObject({
    title: expect.stringMatching(/^Т+…$/),
    body: '…',
  });
});

test('whatever is sent fits, and is whole Unicode', () => {
  const text = fc.option(fc.string({ unit: 'binary', maxLength: 400 }), { nil: null });
  fc.assert(
    fc.property(
      fc.record({ title: text, body: text, link: text, image: text, inboxMessage: text }),
      fc.integer({ min: 150, max: 3_000 }),
      (change, bytesMax) => {
        const json = fitted(contentAt(0, change), bytesMax, compose);
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(bytesMax);
        expect(JSON.parse(json).id).toBe(7);
        expect(json.isWellFormed()).toBe(true);
      },
    ),
  );
});
