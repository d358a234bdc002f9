/** `gatepost link qr --out`: the files of many links hold what is printed. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import decodeQr from 'qr/decode.js';
import { hostHash } from '../../src/core/host-name.ts';
import { bind, CODE } from '../store/contract/fixture.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { makeLink } from '../support/links.ts';

let line: CommandLine;
let out: string;
beforeEach(async () => {
  line = commandLine();
  out = join(line.dataDir, '..', 'codes');
  await makeLink(line.dataDir, ({ store }, { providerId }) =>
    bind(store, providerId, hostHash('example.com')),
  );
});
afterEach(() => line.close());

async function json(...words: string[]) {
  const { code, stdout, stderr } = await line.run('link', ...words, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** The text of a PNG with one bit a pixel. */
function scanPng(path: string): string {
  const file = readFileSync(path);
  const width = file.readUInt32BE(16);
  const end = 41 + file.readUInt32BE(33);
  const rows = inflateSync(file.subarray(41, end));
  const rowBytes = 1 + Math.ceil(width / 8);
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (let n = 0; n < width * width; n++) {
    const [x, y] = [n % width, Math.floor(n / width)];
    const isLight = ((rows[y * rowBytes + 1 + (x >> 3)] ?? 0) >> (7 - (x & 7))) & 1;
    data.fill(isLight * 255, n * 4, n * 4 + 3);
  }
  // Not every camera reads a negative, as the decoder does.
  expect(data[0]).toBe(255);
  return decodeQr({ data, width, height: width });
}

/** The text of an SVG, by its path of squares. */
function scanSvg(path: string): string {
  const svg = readFileSync(path, 'utf8');
  const size = Number(/viewBox="0 0 (\d+) /.exec(svg)?.[1]);
  const scale = 4;
  const width = size * scale;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+),(\d+)h/g)) {
    for (let n = 0; n < scale * scale * 100; n++) {
      const px = Math.floor((Number(x) / 10) * scale) + (n % scale);
      const py = Math.floor((Number(y) / 10) * scale) + (Math.floor(n / scale) % scale);
      if (px < width && py < width) data.fill(0, (py * width + px) * 4, (py * width + px) * 4 + 3);
    }
  }
  return decodeQr({ data, width, height: width });
}

const URL_ = 'https://example.com/sub';

test('fifty links with notes and QR files are two commands', async () => {
  const made = await json('add', '--count', '50', '--note', 'spring: 2027/«я»');
  const drawn: { install_code: string; link: string; png: string; svg: string }[] = await json(
    ...['qr', '--search', 'spring', '--url', URL_, '--app', 'happ', '--out', out],
  );
  expect(drawn.map((one) => one.install_code).sort()).toEqual(
    made.map((one: { install_code: string }) => one.install_code).sort(),
  );
  expect(readdirSync(out).length).toBe(100);
  const last = drawn[0];
  expect(last?.link).toBe(`happ://add/${URL_}#example.com?installid=${last?.install_code}`);
  expect(last?.png).toBe(join(out, `spring-2027-я-50_${last?.install_code}_happ.png`));
  expect(scanPng(last?.png ?? '')).toBe(last?.link ?? '');
  expect(statSync(last?.png ?? '').mode & 0o777).toBe(0o600);
  expect(statSync(out).mode & 0o777).toBe(0o700);
});

test('the SVG holds the same', async () => {
  const [drawn] = await json('qr', CODE, '--url', URL_, '--out', out);
  expect(readFileSync(drawn.svg, 'utf8')).toMatch(/^<svg [^>]*viewBox/);
  expect(scanSvg(drawn.svg)).toBe(drawn.link);
  const { stdout } = await line.run('link', 'qr', CODE, '--url', URL_, '--out', out);
  expect(stdout).toContain(`\n2 files in ${out}\n`);
});

test('all forms at once', async () => {
  const drawn: { app: string }[] = await json('qr', CODE, '--url', URL_, '--app', 'all');
  expect(new Set(drawn.map(({ app }) => app)).size).toBe(15);
});

test('the keys of a file are in the paths, and no code', async () => {
  const file = join(line.dataDir, '..', 'links.csv');
  writeFileSync(file, 'key,note\nfirst@shop,one\nsecond,two\n');
  expect(await json('import', file)).toMatchObject({ added: 2 });
  const words = ['--url', `${URL_}/{key}`, '--no-code'];
  const drawn: { link: string }[] = await json('qr', '--keys', file, ...words, '--out', out);
  expect(drawn.map(({ link }) => link)).toEqual([`${URL_}/first%40shop`, `${URL_}/second`]);
  expect((await json('qr', 'key:second', ...words)).link).toBe(`${URL_}/second`);
  const unknown = await line.run('link', 'qr', '#2', ...words);
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('is not stored here') });
  writeFileSync(file, 'key\nmarzban/bob\n');
  expect(await json('import', file)).toMatchObject({ added: 1 });
  const ofUser = await line.run('link', 'qr', 'key:marzban/bob', ...words);
  expect(ofUser).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is the user of a panel'),
  });
  writeFileSync(file, 'key\nthird\n');
  const none = await line.run('link', 'qr', '--keys', file, ...words);
  expect(none).toMatchObject({ code: 1, stderr: 'gatepost: line 2: there is no such link\n' });
});

test('ten thousand links at once, and no more', async () => {
  const words = ['link', 'qr', '--url', URL_, '--all'];
  // With the one that is there.
  await json('add', '--count', '9999');
  expect(await line.run(...words)).toMatchObject({ code: 0, stderr: '' });
  await json('add');
  const stderr = expect.stringContaining('more than 10000 links match');
  expect(await line.run(...words)).toMatchObject({ code: 2, stderr });
});

test('a folder that cannot be written', async () => {
  writeFileSync(out, '');
  const { code, stderr } = await line.run('link', 'qr', CODE, '--url', URL_, '--out', out);
  expect({ code, has: stderr.includes('cannot write into') }).toEqual({ code: 1, has: true });
});
