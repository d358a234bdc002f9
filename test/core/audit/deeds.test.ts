import { expect, test } from 'bun:test';
import { updateDomain } from '../../../src/core/audit/deeds.ts';

const binding = { id: 1, domainName: 'one', status: 10 };

test.each([
  [{ domainName: 'two' }, 'domain.rename'],
  [{ status: 5 }, 'domain.delete'],
  [{ domainName: 'two', status: 5 }, 'domain.delete'],
])('a binding that changes by %j is named by its action', (change, action) => {
  expect(updateDomain(binding, { ...binding, ...change })?.action).toBe(action as 'domain.rename');
});

test('a disabled binding that becomes active, also under another name, is activated', () => {
  const disabled = { ...binding, status: 5 };
  for (const domainName of ['one', 'two']) {
    expect(updateDomain(disabled, { ...binding, domainName })?.action).toBe('domain.activate');
  }
  expect(updateDomain(binding, binding)).toBeNull();
});
