import { expect, test } from 'bun:test';
import { hwidsOf } from '../../src/console/parts/hwid-file.ts';

test.each<[what: string, file: string, hwids: string[]]>([
  ['one a line', 'pc-1\r\ntv-1\r\n\r\npc-1\n', ['pc-1', 'tv-1']],
  ['one line with commas', 'pc-1, tv-1', ['pc-1', 'tv-1']],
  ['a mark of UTF-8 and a column', '\uFEFFHWID\npc-1\n"tv-1"', ['pc-1', 'tv-1']],
  ['further columns', 'note,hwid\n"a, ""b""\nc",pc-1\nd,tv-1', ['pc-1', 'tv-1']],
  ['semicolons of spreadsheets', 'hwid;note\npc-1;a\n;b\ntv-1', ['pc-1', 'tv-1']],
  ['rows of other links', 'code,hwid\nOther0000001,x\nOwnLink00001,pc-1\n', ['pc-1']],
  ['cells that would be formulas', "hwid\n'=1\n'x", ['=1', "'x"]],
  ['nothing', '', []],
  ['a header row alone', 'code,hwid\n', []],
])('%s', (_, file, hwids) => {
  expect(hwidsOf(file, 'OwnLink00001')).toEqual(hwids);
});

test('a huge file is cut', () => {
  const many = Array.from({ length: 100_000 }, (_, n) => `h${n}`).join('\n');
  expect(hwidsOf(many, '')).toHaveLength(1_000);
});
