/** `gatepost update --check`: believes the publisher alone, and changes nothing. */

import { afterEach, beforeEach, expect } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../src/base/version.ts';
import { publisherKey } from '../../src/config/readers.ts';
import { type CommandLine, commandLine, failureLine } from '../support/command-line.ts';
import { testWith } from '../support/needs.ts';
import { RELEASE_TOOLS, type ReleasePage, releasePage } from '../support/release.ts';
import { IS_LONG } from '../support/scale.ts';

const test = testWith(...RELEASE_TOOLS);
const NEWER = `${Number.parseInt(VERSION, 10) + 10}.0.0`;

let line: CommandLine;
let page: ReleasePage;
let file: string;
beforeEach(() => {
  line = commandLine();
  page = releasePage();
  file = join(page.folder, 'gatepost.toml');
  configure(page.url, page.key);
});
afterEach(async () => {
  line.close();
  await page.stop();
});

function configure(url: string, key: string): void {
  writeFileSync(file, `[update]\nurl = "${url}"\nkey = "${key}"\n`);
}

const check = (...words: string[]) => line.run('update', '--check', '--config', file, ...words);

async function expectRefusal(sentence: string): Promise<void> {
  const message = `${sentence}: the release is refused`;
  expect(await check('--json')).toEqual({
    code: 1,
    stdout: '',
    stderr: failureLine('release_refused', message),
  });
}

test('a newer version', async () => {
  page.publish(NEWER);
  expect(await check()).toEqual({
    code: 0,
    stdout: `gatepost ${NEWER} is available; this is ${VERSION}. Its files are at ${page.url}\n`,
    stderr: '',
  });
  const { stdout } = await check('--json');
  expect(JSON.parse(stdout)).toEqual({ version: VERSION, newest: NEWER, is_newer: true });
});

test('the same version; nothing but two small files is asked, and nothing is written', async () => {
  page.publish(VERSION);
  page.asked.length = 0;
  expect((await check()).stdout).toBe(`gatepost ${VERSION} is the newest version\n`);
  expect(page.asked.sort()).toEqual(['SHA256SUMS', 'SHA256SUMS.sig']);
  expect(existsSync(line.dataDir)).toBe(false);
});

test('an older version is refused', async () => {
  page.publish('0.0.9');
  await expectRefusal(`${page.url} has 0.0.9, older than this version, ${VERSION}`);
});

test('what the publisher did not sign is refused', async () => {
  const sentence = `SHA256SUMS at ${page.url} is not signed by update.key`;
  const other = releasePage();
  page.publish(NEWER, { signer: other });
  await other.stop();
  await expectRefusal(sentence);
  // A signature for another purpose, of another list, of no form, and none of the list's last byte.
  page.publish(NEWER, { namespace: 'file' });
  await expectRefusal(sentence);
  page.publish('0.0.9');
  const older = page.files.get('SHA256SUMS.sig') ?? '';
  page.publish(NEWER);
  const list = String(page.files.get('SHA256SUMS'));
  const signature = String(page.files.get('SHA256SUMS.sig'));
  for (const wrong of [older, '', signature.replace('U1NI', 'U2NI'), signature.slice(0, 200)]) {
    page.files.set('SHA256SUMS.sig', wrong);
    await expectRefusal(sentence);
  }
  page.files.set('SHA256SUMS.sig', signature);
  page.files.set('SHA256SUMS', list.slice(0, -1));
  await expectRefusal(sentence);
  page.files.set('SHA256SUMS', list);
  expect((await check()).code).toBe(0);
});

test('a signed list without a version, or with two, is refused', async () => {
  page.publish('1.2');
  await expectRefusal(`SHA256SUMS at ${page.url} does not name one version`);
});

test('a page without the files, with a redirect, without end', async () => {
  page.publish(NEWER);
  const url = `${page.url}/SHA256SUMS`;
  const answers: [() => Response, string][] = [
    [() => new Response('', { status: 503 }), `${url} answers with status 503`],
    [
      () => Response.redirect(page.url),
      `${url} redirects (302): update.url must be where the files are`,
    ],
    [() => new Response('x'.repeat(70_000)), `${url} has more than 65536 bytes, or broke off`],
  ];
  for (const [answer, message] of answers) {
    page.answer = (name) => (name === 'SHA256SUMS' ? answer() : undefined);
    const { code, stderr } = await check();
    expect({ code, stderr }).toEqual({ code: 1, stderr: `gatepost: ${message}\n` });
  }
});

test.skipIf(!IS_LONG)('a page that never answers', async () => {
  page.answer = () => new Promise(() => {});
  const { code, stderr } = await check();
  expect(code).toBe(1);
  expect(stderr).toEndWith('gave no answer within 10 s\n');
});

test('without an address or a key, nothing is asked', async () => {
  for (const [url, key, name] of [
    ['', page.key, 'url'],
    [page.url, '', 'key'],
  ] as const) {
    configure(url, key);
    expect((await check()).stderr).toStartWith(`gatepost: update.${name} is not set: `);
  }
  expect((await line.run('update')).code).toBe(2);
  expect(page.asked).toEqual([]);
});

test('the form of a key', () => {
  const key = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'a'.repeat(43)}`;
  expect([publisherKey(key), publisherKey(`${key} me@example.com`)]).toEqual([key, key]);
  expect(publisherKey('')).toBe('');
  for (const wrong of ['ssh-rsa AAAA', key.slice(0, -1), `${key}a`, `x${key}`]) {
    expect(() => publisherKey(wrong)).toThrow('is not a key such as');
  }
});
