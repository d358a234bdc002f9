import { expect, test } from 'bun:test';
import { fromStore, isRefused, malformed, Refused, saving } from '../../src/core/outcome.ts';
import { WriteFailed } from '../../src/core/port/store.ts';

test('a refusal is distinguished from all other values, such as an object with the same field', () => {
  expect(isRefused(new Refused('link_disabled'))).toBe(true);
  expect(isRefused(malformed('x must be y'))).toBe(true);
  for (const other of ['link_disabled', null, undefined, 0, { says: 'link_disabled' }, new Error()])
    expect(isRefused<unknown>(other)).toBe(false);
});

test('a literal of the store becomes a refusal; ok and records stay', () => {
  expect(fromStore('provider_not_found' as const)).toEqual(new Refused('provider_not_found'));
  expect(fromStore('ok' as const)).toBe('ok');
  const record = { id: 1 };
  expect(fromStore(record)).toBe(record);
});

test('a step that cannot be saved is a refusal with its fault; other faults pass', async () => {
  const fault = new WriteFailed('the commit failed');
  const refused = await saving('domain_save_error', Promise.reject(fault));
  expect(refused).toMatchObject({ says: 'domain_save_error', fault });
  expect(await saving('domain_save_error', Promise.resolve(5))).toBe(5);
  const other = new TypeError('x');
  expect(saving('domain_save_error', Promise.reject(other))).rejects.toBe(other);
});
