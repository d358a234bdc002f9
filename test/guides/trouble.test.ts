/** docs/trouble.md is found by the words that people see, and quotes the program as it speaks. */

import { expect, test } from 'bun:test';
import { ERROR_CODES } from '../../src/base/operator-error.ts';
import { LOG_EVENTS } from '../../src/monitor/log-events.ts';
import { committedFiles, readText } from '../support/tree.ts';

const page = readText('docs/trouble.md');
const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, text = '']) => text.toLowerCase());

test.each([
  ...['permission denied', 'EROFS', 'read-only', 'no space left', '502', '503', '504'],
  ...['ufw', 'firewall', 'does not run', 'busy', 'uninstall', 'off-site', 'refused', 'slow'],
])('a section is titled by %p', (words) => {
  expect(headings.filter((heading) => heading.includes(words.toLowerCase()))).not.toEqual([]);
});

test('its first table leads to sections that are there', () => {
  const [, table = ''] = /\| You see \| Go to \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(page) ?? [];
  const links = [...table.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
  expect(links.length).toBeGreaterThan(9);
  const anchors = headings.map((heading) => heading.replace(/[^\w -]/g, '').replaceAll(' ', '-'));
  expect(links.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([]);
});

test('sentences of the program are quoted as it prints them', () => {
  const sources = committedFiles().filter((path) => path.startsWith('src/'));
  const text = sources.map(readText).join('\n');
  for (const words of [
    'permission denied; run the command as root or as the user of the service',
    'is read-only for this process',
    'no space left',
    'there is no setting',
    'database is busy',
  ]) {
    expect(page).toContain(words);
    expect(text).toContain(words);
  }
});

test('each event and code that it names can be explained', () => {
  const named = [...page.matchAll(/`(database_\w+|gate_untrusted|upstream_\w+)`/g)];
  const known = { ...LOG_EVENTS, ...ERROR_CODES };
  expect(named.map(([, code = '']) => code).filter((code) => !Object.hasOwn(known, code))).toEqual(
    [],
  );
  expect(named.length).toBeGreaterThan(4);
});

test('what changed between versions is on the page of upgrades alone', () => {
  expect(readText('docs/upgrading.md')).toContain('## What changed between versions\n');
  expect(readText('docs/backups.md')).not.toContain('What changed');
  expect(readText('docs/operating.md')).not.toMatch(/^\| `provider_not_found` \|/m);
});

test('each section of a document that a remedy names is there', () => {
  const sources = committedFiles().filter((path) => path.startsWith('src/'));
  const named = sources.flatMap((path) => [
    ...readText(path).matchAll(/(docs\/[\w-]+\.md), \\?"([^"\\]+)\\?"/g),
  ]);
  expect(named.length).toBeGreaterThan(2);
  const missing = named.filter(([, page = '', title]) => {
    return !new RegExp(`^#+ ${title}$`, 'm').test(readText(page));
  });
  expect(missing.map(([words]) => words)).toEqual([]);
});
