/** Each text of the console is shown by a page or part. A missing one does not compile. */

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { texts } from '../../src/console/texts/en.ts';
import { texts as operatorTexts } from '../../src/console/texts/operator-en.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'src', 'console');
/** Groups that are read by a key of the server; their types hold exactly those keys. */
const BY_KEY = ['refusals', 'reasons'];

const sources = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('texts/'))
  .map((name) => readFileSync(join(FOLDER, name), 'utf8').replace(/^import .*$/gm, ''));

const namesWord = (word: string) => (source: string) =>
  new RegExp(`(?<![\\w-])${word}(?![\\w-])`).test(source);

/** Returns the sources that read a group: `texts.links`, `({ links })`, `{ links } = texts`. */
const readersOf = (group: string) =>
  sources.filter((source) =>
    new RegExp(
      `\\btexts\\s*\\.${group}\\b|\\{[^}]*\\b${group}\\b[^}]*\\} = texts|\\(\\{ ${group} \\}\\)`,
    ).test(source),
  );

test('no text is left that no page shows', () => {
  const groups = Object.entries<object | string>({ ...texts, ...operatorTexts });
  const unused = groups.flatMap(([group, of]) => {
    const readers = readersOf(group);
    if (typeof of === 'string' || BY_KEY.includes(group))
      return readers.length === 0 ? [group] : [];
    const keys = Object.keys(of).filter((key) => !readers.some(namesWord(key)));
    return keys.map((key) => `${group}.${key}`);
  });
  expect(unused).toEqual([]);
});
