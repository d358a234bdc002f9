/** Each text of the console is shown by a page or part. A missing one does not compile. */

import { expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { texts as reminderTexts } from '../../src/console/texts/en/reminders.ts';
import { texts } from '../../src/console/texts/en.ts';
import { texts as fa } from '../../src/console/texts/fa.ts';
import { texts as operatorTexts } from '../../src/console/texts/operator-en.ts';
import { texts as operatorFa } from '../../src/console/texts/operator-fa.ts';
import { texts as operatorRu } from '../../src/console/texts/operator-ru.ts';
import { texts as operatorZh } from '../../src/console/texts/operator-zh.ts';
import { texts as reminderRu } from '../../src/console/texts/ru/reminders.ts';
import { texts as ru } from '../../src/console/texts/ru.ts';
import { texts as zh } from '../../src/console/texts/zh.ts';
import { NEWS_TEXTS } from '../../src/http/my/news-texts.ts';
import { MY_TEXTS } from '../../src/http/my/texts.ts';
import { committedFiles, readText } from '../support/tree.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'src', 'console');
/** Groups read by a key of the server or of a field; their types hold exactly those keys. */
const BY_KEY = ['refusals', 'reasons', 'labels', 'heads'];

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
  const groups = Object.entries<object | string>({ ...texts, ...operatorTexts, ...reminderTexts });
  const unused = groups.flatMap(([group, of]) => {
    const readers = readersOf(group);
    if (typeof of === 'string' || BY_KEY.includes(group))
      return readers.length === 0 ? [group] : [];
    const keys = Object.keys(of).filter((key) => !readers.some(namesWord(key)));
    return keys.map((key) => `${group}.${key}`);
  });
  expect(unused).toEqual([]);
});

const languages = [
  { language: 'en', all: new Set(wordsIn([texts, operatorTexts, reminderTexts])) },
  { language: 'ru', all: new Set(wordsIn([ru, operatorRu, reminderRu])) },
  { language: 'fa', all: new Set(wordsIn([fa, operatorFa])) },
  { language: 'zh', all: new Set(wordsIn([zh, operatorZh])) },
];

/** Returns the texts of a group without those that a function makes. */
function wordsIn(group: unknown): string[] {
  if (typeof group === 'string') return [group];
  return typeof group === 'object' && group !== null ? Object.values(group).flatMap(wordsIn) : [];
}

test.each(languages)('what a hint in $language names in quotes is a page or button', ({ all }) => {
  const named = [...all].flatMap((text) => text.match(/(?<=[«“])[^»”=]+(?=[»”])/g) ?? []);
  expect(named.filter((name) => !all.has(name))).toEqual([]);
});

test.each(['console', 'first-hour', 'user-page'])(
  'what docs/%s.md names in italics is a page or button',
  (name) => {
    const all = new Set([...(languages[0]?.all ?? []), ...Object.values(NEWS_TEXTS.en)]);
    const text = readText(`docs/${name}.md`);
    const named = text.match(/(?<=(?<![*\w])\*)[A-Z][^*|]+(?=\*(?![*\w]))/g) ?? [];
    expect(named.length).toBeGreaterThan(0);
    const strange = named.map((one) => one.replace(/\s+/g, ' ')).filter((one) => !all.has(one));
    expect(strange).toEqual([]);
  },
);

/** Words that people of the trade do not use, or that named several things. */
const BANNED: Readonly<Record<string, RegExp>> = {
  fa: new RegExp(
    [
      'پیوند|رونوشت|پرونده|صافی|پالایه|پالایش|برگزین',
      'گزینش|درهم‌سازی|بی‌درنگ|فرمان|برداشت|برداری',
      '(?<!باز)نشانی|گذرواژه|گذرعبارت|گذرکلید|پراکسی|گفتگو|درگاه|دروازه|ارائه‌دهنده',
    ].join('|'),
  ),
  zh: /回调|钩子|提供商|(?<!API |签名|通行|安全)密钥/,
};

test.each(['fa', 'zh'])('one word for a thing: %s', (language) => {
  const pages = committedFiles().filter((path) =>
    new RegExp(`^src/(?:console/texts/${language}/|webhook/telegram/${language}\\.ts)`).test(path),
  );
  expect(pages.length).toBeGreaterThan(5);
  const own = [
    JSON.stringify(NEWS_TEXTS),
    JSON.stringify(MY_TEXTS),
    readText('src/http/gate/texts.ts'),
  ];
  const texts = language === 'zh' ? pages.map(readText) : [...pages.map(readText), ...own];
  const found = texts.flatMap((text) =>
    text.split('\n').filter((line) => BANNED[language]?.test(line)),
  );
  expect(found).toEqual([]);
});
