import { expect, test } from 'bun:test';
import { STATUS_NAMES } from '../../src/core/message/status.ts';
import { DOMAIN_ACTIVE, DOMAIN_DISABLED } from '../../src/core/port/domain.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from '../../src/core/port/link.ts';
import { ACTIVITY_NAMES, activityWord, wordOf } from '../../src/core/status-word.ts';

test('links and domains have the same statuses', () => {
  expect([INSTALL_DISABLED, INSTALL_ACTIVE]).toEqual([DOMAIN_DISABLED, DOMAIN_ACTIVE]);
  const names = Object.keys(ACTIVITY_NAMES).map(Number);
  expect(names).toEqual([DOMAIN_DISABLED, DOMAIN_ACTIVE]);
});

test('a word is the name of the contract in lower case', () => {
  for (const [status, name] of Object.entries(ACTIVITY_NAMES)) {
    expect(activityWord(Number(status) === DOMAIN_ACTIVE) as string).toBe(wordOf(name));
  }
  expect(wordOf(STATUS_NAMES[110] ?? '')).toBe('sent_with_errors');
});
