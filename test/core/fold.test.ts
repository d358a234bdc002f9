/** What a search takes for the same letter, and that both databases do so. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { alternatives, folded } from '../../src/core/fold.ts';
import { call, seedProvider, startTestApp, type TestApp } from '../support/app.ts';

test.each([
  ['МАРИЯ Ёлка', 'мария елка'],
  ['ΟΔΟΣ', 'οδοσ'],
  ['İstanbul Işık', 'istanbul işik'],
  ['علي كريمي ۱۲۳', 'علی کریمی 123'],
  ['می\u200cخواهم ٤٥', 'می خواهم 45'],
  ['ＡＢ１２', 'ab12'],
  ['Straße Œ', 'straße œ'],
  ['й и\u0306 É', 'й й é'],
  ['🙂 a*[?]^-%_\\', '🙂 a*[?]^-%_\\'],
])('%s is searched as %s', (text, expected) => {
  expect(folded(text)).toBe(expected);
  // What is folded stays, and each character is among those that are alike.
  expect(folded(expected)).toBe(expected);
  const characters = Array.from(text.normalize('NFC'));
  for (const [n, all] of alternatives(text).entries()) expect(all).toContain(characters[n] ?? '');
});

test('what has others alike is no mark of a pattern', () => {
  const marks = Array.from('[]{}()*?^$-.|+\\%_!#&~', (mark) => [mark, alternatives(mark)] as const);
  expect(marks.filter(([mark, [all]]) => all?.join() !== mark)).toEqual([]);
});

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const NOTES = [
  ...['Мария Семёнова', 'мария', 'علي كريمي', 'علی کریمی', 'Anna', 'ANNA *', 'order #12 [a]'],
  ...['سفارش ۱۲', 'a^b', 'a-b', '100%', 'x_y', 'back\\slash', '(one|two)', '王小明', 'ＶＩＰ'],
];

test.each([
  ['МАРИЯ', ['Мария Семёнова', 'мария']],
  ['семенова', ['Мария Семёнова']],
  ['علی', ['علي كريمي', 'علی کریمی']],
  ['كريمي', ['علي كريمي', 'علی کریمی']],
  ['anna', ['Anna', 'ANNA *']],
  ['a *', ['ANNA *']],
  ['12', ['order #12 [a]', 'سفارش ۱۲']],
  ['[a]', ['order #12 [a]']],
  [']', ['order #12 [a]']],
  ['^', ['a^b']],
  ['a-b', ['a-b']],
  ['%', ['100%']],
  ['_', ['x_y']],
  ['?', []],
  ['\\', ['back\\slash']],
  ['(one|two)', ['(one|two)']],
  ['.', []],
  ['小', ['王小明']],
  ['vip', ['ＶＩＰ']],
])('a search for %s', async (search, expected) => {
  const own = await seedProvider(app);
  for (const note of NOTES) await call(app, '/api/add-install', own, { install_limit: 1, note });
  const { json } = await call(app, '/api/list-install', own, { search });
  const found = (json.data as { note: string }[]).map(({ note }) => note);
  expect(found.sort()).toEqual([...expected].sort());
});
