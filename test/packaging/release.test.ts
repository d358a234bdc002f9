/** A release page as `make release` makes it, from a small executable: complete, signed, usable. */

import { afterAll, beforeAll, expect } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../src/base/version.ts';
import { freshFolder } from '../support/app.ts';
import { commandLine } from '../support/command-line.ts';
import { testWith } from '../support/needs.ts';
import { fakeExecutable } from '../support/release.ts';

const ROOT = join(import.meta.dir, '../..');
const test = testWith('ssh-keygen', 'dpkg-deb', 'curl');
const folder = freshFolder();
const key = join(folder, 'key');
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => new Response(Bun.file(join(folder, 'one', new URL(request.url).pathname))),
});
afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

/** The ends of the names of the kits' archives. */
const KITS = readdirSync(join(ROOT, 'sdk')).map((name) =>
  name === 'typescript' ? `-${VERSION}.tgz` : `-${name}-${VERSION}.tar.gz`,
);
const native = process.arch === 'x64' ? 'amd64' : 'arm64';
const PLATFORMS = [process.arch, 'x64-musl'];

/** Makes a page of these platforms; returns what the script said. */
async function release(
  out: string,
  more: Record<string, string>,
  platforms: readonly string[] = PLATFORMS,
): Promise<string> {
  const where = { FROM: join(folder, 'dist'), OUT: join(folder, out), DEB_COMPRESSION: 'none' };
  const env = { ...process.env, ...where, RELEASE_URL: server.url.origin, ...more };
  return Bun.$`packaging/release.sh ${platforms} 2>&1`.cwd(ROOT).env(env).text();
}

let words: string;
beforeAll(async () => {
  if (Bun.which('ssh-keygen') === null || Bun.which('dpkg-deb') === null) return;
  mkdirSync(join(folder, 'dist'));
  for (const name of PLATFORMS) {
    const path = join(folder, 'dist', `gatepost-linux-${name}`);
    writeFileSync(path, fakeExecutable(VERSION));
    chmodSync(path, 0o755);
  }
  await Bun.$`ssh-keygen -q -t ed25519 -N '' -f ${key}`;
  words = await release('one', { RELEASE_KEY: key, IMAGES: native });
});

test('it has each kind of file, and lists all of them', () => {
  const names = readdirSync(join(folder, 'one'));
  expect(names.sort()).toEqual(
    [
      ...PLATFORMS.map((name) => `gatepost-linux-${name}`),
      ...[`${native}.deb`, `image_${native}.tar`].map((end) => `gatepost_${VERSION}_${end}`),
      ...[`gatepost_${VERSION}.cdx.json`, 'SHA256SUMS', 'SHA256SUMS.sig'],
      ...['compose.yaml', 'install.sh'],
      ...KITS.map((name) => `gatepost-device${name}`),
    ].sort(),
  );
  const list = readFileSync(join(folder, 'one/SHA256SUMS'), 'utf8').trim().split('\n');
  expect(list.map((line) => line.slice(66))).toEqual(
    names.filter((name) => !name.startsWith('SHA256SUMS')).sort(),
  );
  expect(words).toContain('SHA256SUMS is signed by ssh-ed25519 AAAA');
  expect(readFileSync(join(folder, 'one/compose.yaml'), 'utf8')).not.toContain('@VERSION@');
});

test('the configuration of its package names the page and the key, commented out', async () => {
  const configured = async (out: string) => {
    const deb = join(folder, out, `gatepost_${VERSION}_${native}.deb`);
    const packed = Bun.$`dpkg-deb --fsys-tarfile ${deb} | tar -xO ./usr/share/gatepost/gatepost.toml`;
    const text = await packed.quiet().text();
    return text.slice(text.indexOf('\n[update]'));
  };
  const section = await configured('one');
  const given = readFileSync(`${key}.pub`, 'utf8').split(' ').slice(0, 2).join(' ');
  expect(section).toContain(`\n#url = "${server.url.origin}"\n`);
  expect(section).toContain(`\n#key = "${given}"\n`);
  expect(section).not.toMatch(/^[^#[\n]/m);
});

test('the same sources and the same key give the same bytes', async () => {
  await release('two', { RELEASE_KEY: key, IMAGES: native });
  for (const name of ['SHA256SUMS', 'SHA256SUMS.sig']) {
    expect(readFileSync(join(folder, 'two', name), 'utf8')).toBe(
      readFileSync(join(folder, 'one', name), 'utf8'),
    );
  }
});

test('its install.sh needs no option, and update --check believes the page', async () => {
  const script = join(folder, 'one/install.sh');
  const to = join(folder, 'to');
  mkdirSync(to);
  expect(await Bun.$`sh ${script} --to ${to}`.text()).toContain(`gatepost ${VERSION} is installed`);
  const file = join(folder, 'gatepost.toml');
  const text = readFileSync(`${key}.pub`, 'utf8').trim();
  writeFileSync(file, `[update]\nurl = "${server.url.origin}"\nkey = "${text}"\n`);
  const line = commandLine();
  const { code, stdout } = await line.run('update', '--check', '--config', file);
  line.close();
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `gatepost ${VERSION} is the newest version\n`,
  });
});

test('without a key it says that nothing is signed, and its install.sh refuses', async () => {
  const said = await release('bare', { RELEASE_KEY: '', KITS: '' }, ['x64-musl']);
  expect(said).toContain('nothing is signed: RELEASE_KEY names no key');
  expect(readdirSync(join(folder, 'bare'))).not.toContain('SHA256SUMS.sig');
  const refused = await Bun.$`sh ${join(folder, 'bare/install.sh')} --to ${folder}`
    .nothrow()
    .quiet();
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr.toString()).toContain('no key: this release was not signed');
});

test('another kind of key, or an odd address, is refused before anything is made', async () => {
  const other = join(folder, 'rsa');
  await Bun.$`ssh-keygen -q -t ecdsa -N '' -f ${other}`;
  await expect(release('other', { RELEASE_KEY: other })).rejects.toThrow();
  await expect(release('other', { RELEASE_URL: "https://example.com/'" })).rejects.toThrow();
  expect(readdirSync(folder)).not.toContain('other');
});
