/** `gatepost link qr`: what a camera reads off the terminal is the link that is printed. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import decodeQr from 'qr/decode.js';
import { FINAL_FORMS, finalLink } from '../../src/core/final-link.ts';
import { hostHash } from '../../src/core/host-name.ts';
import { addLink, bind, CODE, OTHER_CODE } from '../store/contract/fixture.ts';
import { ACT } from '../support/actor.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink } from '../support/links.ts';

const URL_ = 'https://example.com/sub/abc';

let line: CommandLine;
beforeAll(async () => {
  line = commandLine({ columns: 80 });
  await makeLink(line.dataDir, async ({ store }, { providerId }) => {
    await bind(store, providerId, hostHash('example.com'));
    const domainId = await bind(store, providerId, hostHash('other.example.com'));
    await store.disableDomain(providerId, domainId, ACT);
    const id = await addLink(store, providerId, { installCode: OTHER_CODE });
    await store.updateLink(providerId, id, { status: 5 }, ACT);
  });
});
afterAll(() => line.close());

/** The text that a camera reads off drawn lines; each module is a square of pixels. */
function scan(lines: readonly string[]): string {
  const size = 4;
  const width = (lines[0]?.length ?? 0) * size;
  const height = lines.length * 2 * size;
  const data = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const row = Math.floor(y / size);
      const cell = lines[row >> 1]?.[Math.floor(x / size)] ?? ' ';
      const isLight = cell === '█' || cell === (row % 2 === 0 ? '▀' : '▄');
      const at = (y * width + x) * 4;
      data.fill(isLight ? 255 : 0, at, at + 3);
      data[at + 3] = 255;
    }
  }
  return decodeQr({ data, width, height });
}

async function json(...words: string[]) {
  const { code, stdout, stderr } = await line.run('link', 'qr', CODE, ...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

const QUERY = `${URL_}?installid=${CODE}`;

/** Each form without a title. */
const FORMS: Readonly<Record<string, string>> = {
  plain: `${URL_}#example.com?installid=${CODE}`,
  query: QUERY,
  happ: `happ://add/${URL_}#example.com?installid=${CODE}`,
  'happ-query': `happ://add/${QUERY}`,
  v2raytun: `v2raytun://import/${QUERY}`,
  flclashx: `flclashx://install-config?url=${encodeURIComponent(QUERY)}`,
  'koala-clash': `koala-clash://install-config?url=${encodeURIComponent(QUERY)}`,
  'prizrak-box': `prizrak-box://install-config?url=${encodeURIComponent(QUERY)}`,
  clodclash: `clodclash://install-config?url=${encodeURIComponent(QUERY)}`,
  incy: `incy://add/${QUERY}`,
  hiddify: `hiddify://import/${QUERY}`,
  karing: `karing://install-config?url=${encodeURIComponent(QUERY)}`,
  clash: `clash://install-config?url=${encodeURIComponent(QUERY)}`,
  'sing-box': `sing-box://import-remote-profile?url=${encodeURIComponent(QUERY)}`,
  shadowrocket: `sub://${btoa(QUERY)}`,
};

describe('the link', () => {
  test.each(FINAL_FORMS)('in the form of %s, and as the code that is drawn', async (app) => {
    const link = FORMS[app] ?? '';
    const printed = await json('--url', URL_, '--app', app);
    expect(printed).toEqual({ install_code: CODE, note: 'note', app, link });
    const piped = commandLine({ dataDir: line.dataDir });
    const { stdout } = await piped.run('link', 'qr', CODE, '--url', URL_, '--app', app);
    const lines = stdout.trimEnd().split('\n');
    expect([lines.pop(), scan(lines)]).toEqual([link, link]);
    piped.close();
  });

  test('has the title where apps look for it, and keeps a query', () => {
    const some = { url: 'https://example.com/sub?a=1', title: 'Моё имя', installCode: CODE };
    const name = encodeURIComponent('Моё имя');
    expect(finalLink('plain', some)).toBe(`${some.url}#${name}?installid=${CODE}`);
    expect(finalLink('query', some)).toBe(`${some.url}&installid=${CODE}#${name}`);
    const url = encodeURIComponent(`${some.url}&installid=${CODE}`);
    expect(finalLink('sing-box', some)).toBe(`sing-box://import-remote-profile?url=${url}#${name}`);
  });

  test('without a code in every form: the key in the path names the link', () => {
    const keyed = { url: URL_, title: null, installCode: null };
    for (const app of FINAL_FORMS) {
      const link = finalLink(app, keyed);
      expect(link.toLowerCase()).not.toContain('installid');
      expect(link === URL_).toBe(app === 'plain' || app === 'query');
    }
    expect(finalLink('plain', { ...keyed, title: 'Shop' })).toBe(`${URL_}#Shop`);
  });
});

describe('for people', () => {
  test('the code in black and white, and the link below', async () => {
    const { stdout, stderr } = await line.run('link', 'qr', CODE, '--url', URL_, '--title', 'Shop');
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.pop()).toBe(`${URL_}#Shop?installid=${CODE}`);
    const bare = lines.map((row) => row.replace(/^\u001b\[97;40m(.*)\u001b\[0m$/, '$1'));
    expect(bare.every((row, n) => row !== lines[n] && row.length <= 80)).toBe(true);
    expect(scan(bare)).toBe(`${URL_}#Shop?installid=${CODE}`);
  });

  test('into a file without colours', async () => {
    const piped = commandLine({ dataDir: line.dataDir });
    const { stdout } = await piped.run('link', 'qr', CODE, '--url', URL_);
    expect(stdout).not.toContain('\u001b');
    expect(scan(stdout.trimEnd().split('\n').slice(0, -1))).toBe(FORMS['plain'] ?? '');
    piped.close();
  });

  test('a terminal that is too narrow gets a hint, and the link', async () => {
    const narrow = commandLine({ dataDir: line.dataDir, columns: 40 });
    const { code, stdout, stderr } = await narrow.run('link', 'qr', CODE, '--url', URL_);
    expect(code).toBe(0);
    expect(stdout).toBe(`${FORMS.plain}\n`);
    expect(stderr).toBe('the QR code needs 41 columns, and this terminal has 40\n');
    narrow.close();
    const justWide = commandLine({ dataDir: line.dataDir, columns: 41 });
    const drawn = await justWide.run('link', 'qr', CODE, '--url', URL_);
    expect(drawn).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('▄') });
    justWide.close();
  });
});

test('says on stderr why every device is refused', async () => {
  const words = ['link', 'qr', OTHER_CODE, '--url', 'https://other.example.com/sub'];
  const { code, stdout, stderr } = await line.run(...words);
  expect({ code, isDrawn: stdout.includes('▄') }).toEqual({ code: 0, isDrawn: true });
  expect(stderr.split('\n')).toEqual([
    'Provide1 has no active binding of other.example.com: devices are refused',
    `${OTHER_CODE} is disabled: devices are refused`,
    '',
  ]);
});

test.each([
  [['--url', 'ftp://example.com/sub'], 'begins with http:// or https://'],
  [['--url', 'https://user@example.com/sub'], 'has no user and no fragment'],
  [['--url', `${URL_}#title`], 'has no user and no fragment'],
  [['--url', `${URL_}?InstallID=x`], 'has no installid: qr adds it'],
  [['--url', URL_, '--title', 'я'.repeat(255)], 'longer than 1000 bytes'],
  [['--url', URL_, '--app', 'unknown'], '--app is one of plain, query, happ'],
])('%j is a mistake of usage', async (words, part) => {
  const { code, stderr } = await line.run('link', 'qr', CODE, ...words);
  expect({ code, has: stderr.includes(part) }).toEqual({ code: 2, has: true });
});
