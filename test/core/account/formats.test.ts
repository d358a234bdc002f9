/** Names, passwords, passphrases and labels of the console, at their bounds. */

import { expect, test } from 'bun:test';
import {
  readAccountName,
  readBackupPassphrase,
  readLabel,
  readNewPassword,
} from '../../../src/core/account/formats.ts';
import { isRefused } from '../../../src/core/outcome.ts';

const isGood = (read: unknown) => !isRefused(read);
/** A letter that is two code units. */
const WIDE = '😀';

test('an account name has 2 to 64 characters, and is kept in lower case', () => {
  expect(readAccountName(' Anna@Example.com ')).toBe('anna@example.com');
  const fits = (name: unknown) => isGood(readAccountName(name));
  expect(['a', 'ab', 'a'.repeat(64), 'a'.repeat(65)].map(fits)).toEqual([false, true, true, false]);
  expect(['.a', 'a b', 'ä1', '', 7, null].map(fits)).toEqual(Array(6).fill(false));
});

test('a password has 10 to 200 characters, of any kind', () => {
  const fits = (length: number) => isGood(readNewPassword(WIDE.repeat(length)));
  expect([9, 10, 200, 201].map(fits)).toEqual([false, true, true, false]);
  expect(readNewPassword('  two blanks  ')).toBe('  two blanks  ');
  expect(isGood(readNewPassword(1_234_567_890))).toBe(false);
});

test('a passphrase is one line of 12 characters or more, without blanks around it', () => {
  const fits = (text: unknown) => isGood(readBackupPassphrase(text));
  expect([11, 12, 255].map((length) => fits('x'.repeat(length)))).toEqual([false, true, true]);
  expect([' 12 and more', '12 and more ', 'two\nlines of it', null].map(fits)).toEqual(
    Array(4).fill(false),
  );
});

test('a label is one line of 1 to 64 characters', () => {
  expect(readLabel(' my key ')).toBe('my key');
  const fits = (length: number) => isGood(readLabel(WIDE.repeat(length)));
  expect([0, 1, 64, 65].map(fits)).toEqual([false, true, true, false]);
  expect(isGood(readLabel('a\nb'))).toBe(false);
});
