import { expect, test } from 'bun:test';
import { sheet, table } from '../../src/cli/table.ts';

test('what a device calls itself moves no cursor and turns no line', () => {
  const name = 'up\u001b[2J\u202eright\u2028\u0085';
  const shown = 'up\\u001b[2J\\u202eright\\u2028\\u0085';
  expect(table([{ name, count: 2 }], { NAME: 'name', COUNT: 'count' })).toBe(
    `NAME${' '.repeat(30)}  COUNT\n${shown}      2`,
  );
  expect(sheet({ name })).toBe(`name  ${shown}`);
});

test('ordinary text stays as it is, in any script', () => {
  const name = 'Планшет 平板 تابلت 👩‍💻';
  expect(sheet({ name })).toBe(`name  ${name}`);
});

test('wide letters take two columns', () => {
  const rows = [
    { name: '平板', os: 'ios' },
    { name: 'tablet', os: 'ios' },
  ];
  expect(table(rows, { NAME: 'name', OS: 'os' })).toBe('NAME    OS\n平板    ios\ntablet  ios');
});
