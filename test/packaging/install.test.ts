/** The install script: installs what the publisher signed, and nothing else. */

import { afterEach, beforeEach, expect } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { testWith } from '../support/needs.ts';
import {
  fakeExecutable,
  RELEASE_TOOLS,
  type ReleasePage,
  releasePage,
} from '../support/release.ts';

const SCRIPT = join(import.meta.dir, '../../packaging/install.sh');
const test = testWith(...RELEASE_TOOLS, 'curl', 'sha256sum', 'dash');
const platform = `gatepost-linux-${process.arch}`;
const machine = process.arch === 'x64' ? 'amd64' : 'arm64';

let page: ReleasePage;
let to: string;
/** Programs that stand before those of the machine. */
let bin: string;
beforeEach(() => {
  page = releasePage();
  page.publish('1.2.3');
  to = join(page.folder, 'to');
  bin = join(page.folder, 'bin');
  mkdirSync(to);
  mkdirSync(bin);
});
afterEach(() => page.stop());

interface Run {
  options?: string[];
  script?: string;
  shell?: string[];
}

async function install({ options = ['--to', to], script = SCRIPT, shell = ['dash'] }: Run = {}) {
  const words = [...shell, script, '--url', page.url, '--key', page.key, ...options];
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, TMPDIR: page.folder };
  const child = Bun.spawn(words, { env, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** The files in the directory; the script leaves no other files anywhere. */
function installed(): string[] {
  expect(readdirSync(page.folder).filter((name) => name.startsWith('tmp.'))).toEqual([]);
  return readdirSync(to);
}

async function expectRefusal(sentence: string, run: Run = {}): Promise<void> {
  const { code, stdout, stderr } = await install(run);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(sentence);
  expect(installed()).toEqual([]);
}

/** Puts another content behind a name of the page. */
function tamper(name: string): void {
  page.files.set(name, `${page.files.get(name)}touch ${to}/it-ran\n`);
}

/** The script as `make release` writes it. */
function released(version: string): string {
  const script = join(page.folder, 'install.sh');
  const text = readFileSync(SCRIPT, 'utf8').replace(/^version=''$/m, `version='${version}'`);
  writeFileSync(script, text);
  return script;
}

/** The script on a machine without curl. */
function withWget(): string {
  const script = join(page.folder, 'wget.sh');
  writeFileSync(script, readFileSync(SCRIPT, 'utf8').replaceAll('has curl', 'false'));
  return script;
}

test('it installs the executable, and again nothing', async () => {
  const first = await install();
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toContain(
    `Verified: ${platform} is of gatepost 1.2.3, signed by ${page.key}`,
  );
  expect(first.stdout).toContain(`gatepost 1.2.3 is installed as ${to}/gatepost`);
  expect(readFileSync(join(to, 'gatepost'), 'utf8')).toBe(fakeExecutable('1.2.3'));
  page.asked.length = 0;
  expect(await install()).toEqual({
    code: 0,
    stdout: `gatepost 1.2.3 is installed already, as ${to}/gatepost: nothing was done.\n`,
    stderr: '',
  });
  expect(page.asked).toEqual(['SHA256SUMS', 'SHA256SUMS.sig']);
  expect(installed()).toEqual(['gatepost']);
});

test('it upgrades, and never to an older version', async () => {
  await install();
  page.publish('1.10.0');
  expect((await install()).stdout).toContain('gatepost 1.10.0 is installed');
  page.publish('1.9.9');
  const older = await install();
  expect(older.code).toBe(1);
  expect(older.stderr).toContain('has version 1.9.9, older than the installed 1.10.0');
  expect(readFileSync(join(to, 'gatepost'), 'utf8')).toBe(fakeExecutable('1.10.0'));
});

test('a release older than the script is refused', async () => {
  await expectRefusal('has version 1.2.3, older than 1.3.0 of this script', {
    script: released('1.3.0'),
  });
});

test('--verify installs nothing', async () => {
  const { code, stdout } = await install({ options: ['--verify', '--bare'] });
  expect(code).toBe(0);
  expect(stdout).toContain('Nothing was installed');
  expect(installed()).toEqual([]);
});

test('a tampered file is refused before it runs', async () => {
  tamper(platform);
  await expectRefusal(`${platform} is not the file of the release`);
});

test('a tampered list is refused', async () => {
  tamper('SHA256SUMS');
  await expectRefusal('SHA256SUMS is not signed by the key');
  expect(page.asked).not.toContain(platform);
});

test("a list signed by another's key, or for another purpose, is refused", async () => {
  const other = releasePage();
  page.publish('1.2.3', { signer: other });
  await other.stop();
  await expectRefusal('SHA256SUMS is not signed by the key');
  page.publish('1.2.3', { namespace: 'file' });
  await expectRefusal('SHA256SUMS is not signed by the key');
});

test('the list of one release with the file of another is refused', async () => {
  page.files.set(platform, fakeExecutable('1.2.2'));
  await expectRefusal(`${platform} is not the file of the release`);
});

test('a half download is refused, with its length announced or not', async () => {
  const half = fakeExecutable('1.2.3').slice(0, 20);
  page.files.set(platform, half);
  await expectRefusal('its checksum differs');
  const data = () => {};
  const broken = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data,
      open: (one) => void one.end(`HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n${half}`),
    },
  });
  page.answer = (name) =>
    name === platform ? Response.redirect(`http://127.0.0.1:${broken.port}/`) : undefined;
  await expectRefusal('cannot download');
  broken.stop(true);
});

test('a list without end is refused, by curl and by wget', async () => {
  const sentence = 'SHA256SUMS has more than 65536 bytes: nothing is installed';
  let sent = 0;
  const endless = () =>
    new ReadableStream({
      async pull(controller) {
        // The socket takes what it has room for between two turns.
        await new Promise((resolve) => setImmediate(resolve));
        sent += 16_384;
        controller.enqueue(new Uint8Array(16_384));
        if (sent > 100e6) controller.close();
      },
    });
  for (const body of [() => 'x'.repeat(200_000), endless]) {
    page.answer = (name) => (name === 'SHA256SUMS' ? new Response(body()) : undefined);
    await expectRefusal(sentence);
    if (Bun.which('wget') !== null) await expectRefusal(sentence, { script: withWget() });
  }
  expect(sent).toBeGreaterThan(0);
  expect(sent).toBeLessThan(50e6);
});

test('without a signature, a key or an address that it accepts, nothing is asked', async () => {
  await expectRefusal('no key', { options: ['--to', to, '--key', ''] });
  await expectRefusal('not of the form', { options: ['--to', to, '--key', 'ssh-rsa AAAA'] });
  await expectRefusal('https://', { options: ['--to', to, '--url', 'http://example.com'] });
  expect(page.asked).toEqual([]);
  page.files.delete('SHA256SUMS.sig');
  await expectRefusal('cannot download');
});

test('a script that broke off anywhere does nothing', async () => {
  const text = readFileSync(SCRIPT, 'utf8');
  const script = join(page.folder, 'half.sh');
  for (let length = 0; length < text.length - 'main "$@"\n'.length; length += 397) {
    writeFileSync(script, text.slice(0, length));
    await install({ script });
  }
  expect(page.asked).toEqual([]);
  expect(installed()).toEqual([]);
});

test('an executable that does not run here leaves the installed one', async () => {
  await install();
  page.publish('1.2.4', { executable: '#!/bin/sh\necho Illegal instruction >&2\nexit 1\n' });
  const { code, stderr } = await install();
  expect(code).toBe(1);
  expect(stderr).toContain('does not run on this machine (Illegal instruction)');
  expect(installed()).toEqual(['gatepost']);
  expect(readFileSync(join(to, 'gatepost'), 'utf8')).toBe(fakeExecutable('1.2.3'));
});

test('with dpkg it installs the package of the release, and again nothing', async () => {
  const log = join(page.folder, 'log');
  const stub = (name: string, body: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  stub('apt-get', `echo "$@" >>${log}; cat "\${4:-/dev/null}" >>${log}`);
  stub('dpkg-query', `[ -f ${log} ] && echo 'installed 1.2.3'`);
  stub('id', 'echo 0');
  const script = join(page.folder, 'as-deb.sh');
  const text = readFileSync(SCRIPT, 'utf8').replace('[ -d /run/systemd/system ]', 'true');
  writeFileSync(script, text);
  const first = await install({ script, options: [] });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  const done = readFileSync(log, 'utf8');
  // Nothing to ask about: an option would hide a question that another package has.
  expect(done).not.toContain('--force-conf');
  expect(done.trim().split('\n')[0]).toEndWith(`/gatepost_1.2.3_${machine}.deb`);
  expect((await install({ script, options: [] })).stdout).toContain('nothing was done');
  expect(readFileSync(log, 'utf8')).toBe(done);
});

test('wget and other shells do as well', async () => {
  if (Bun.which('wget') !== null) {
    expect((await install({ script: withWget() })).stdout).toContain('1.2.3 is installed');
  }
  page.publish('1.2.4');
  expect((await install({ shell: ['bash', '--posix'] })).stdout).toContain('1.2.4 is installed');
});
