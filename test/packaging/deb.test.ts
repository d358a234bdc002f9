/** The Debian package: documents, examples, first words, and the same bytes each time. */

import { afterAll, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { commandTree } from '../../packaging/command-tree.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';

setDefaultTimeout(60_000);

const folder = freshFolder();
const root = join(folder, 'root');
const doc = join(root, 'usr/share/doc/gatepost');
const withDpkg = testWith('dpkg-deb');
afterAll(() => rmSync(folder, { recursive: true }));

async function build(out: string, umask: string): Promise<string> {
  const executable = join(folder, 'executable');
  writeFileSync(executable, '#!/bin/sh\n');
  chmodSync(executable, 0o755);
  const env = { ...process.env, VERSION: '1.2.3', DEB_COMPRESSION: 'none', OUT: join(folder, out) };
  const build = `umask ${umask}; packaging/build-deb.sh amd64 "$0"`;
  return (await Bun.$`bash -c ${build} ${executable}`.env(env).text()).trim();
}

beforeAll(async () => {
  if (Bun.which('dpkg-deb') === null) return;
  await Bun.$`dpkg-deb --raw-extract ${await build('one', '022')} ${root}`;
});

withDpkg('the same sources give the same bytes', async () => {
  const first = readFileSync(join(folder, 'one/gatepost_1.2.3_amd64.deb'));
  expect(readFileSync(await build('other', '077')).equals(first)).toBe(true);
});

withDpkg('it has the documents, and each of their links leads somewhere', () => {
  const pages = readdirSync(doc).filter((name) => name.endsWith('.md'));
  const sources = readdirSync(join(import.meta.dir, '../../docs'));
  expect(pages.sort()).toEqual(
    [...sources.filter((name) => name.endsWith('.md')), 'SECURITY.md'].sort(),
  );
  const links = pages.flatMap((page) =>
    [...readFileSync(join(doc, page), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(
      ([, target = '']) => ({ page, target, path: join(dirname(join(doc, page)), target) }),
    ),
  );
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ path }) => !existsSync(path))).toEqual([]);
});

withDpkg('it has alerts, dashboard, and examples of proxies and nodes', () => {
  const below = readdirSync(join(doc, 'examples'), { recursive: true });
  expect(below).toEqual(
    expect.arrayContaining([
      ...['alerts.yml', 'grafana-dashboard.json', 'nginx.conf', 'haproxy.lua', 'gatepost.toml'],
      ...['several-nodes/patroni.yml', 'several-nodes/pgbouncer.ini', 'several-nodes/nginx.conf'],
    ]),
  );
  expect(existsSync(join(doc, 'port-80.conf'))).toBe(true);
});

withDpkg('the first installation names the next three commands, an upgrade none', async () => {
  // The parts of the system that the script changes are empty commands here.
  const stubs = ['systemd-sysusers', 'install', 'dpkg-statoverride', 'deb-systemd-helper'];
  const bin = join(folder, 'bin');
  await Bun.$`mkdir ${bin}`;
  for (const name of [...stubs, 'sed', 'deb-systemd-invoke', 'systemctl']) {
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 });
  }
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  const postinst = join(root, 'DEBIAN/postinst');
  const words = await Bun.$`sh ${postinst} configure`.env(env).text();
  const tree = commandTree(buildProgram({} as Parameters<typeof buildProgram>[0]));
  const known = tree.map(({ path }) => path.join(' ')).filter((path) => path !== '');
  const lines = [...words.matchAll(/^ {2}\S.* gatepost (?!gatepost)(.*)$/gm)].map(
    ([, line]) => line,
  );
  expect(lines).toHaveLength(3);
  const unknown = lines.filter((line) => !known.some((path) => `${line} `.startsWith(`${path} `)));
  expect(unknown).toEqual([]);
  expect(await Bun.$`sh ${postinst} configure 1.2.2`.env(env).text()).toBe('');
});

withDpkg('the first installation alone sets how strangers are answered', async () => {
  // dpkg replaces a file that was not changed, so the file of the package sets nothing of it.
  const file = join(root, 'etc/gatepost/gatepost.toml');
  const set = () => readFileSync(file, 'utf8').match(/^strangers = .*/gm);
  expect(set()).toBeNull();
  const postinst = readFileSync(join(root, 'DEBIAN/postinst'), 'utf8');
  const first = /if \[ -z "\$2" \]; then\n([\s\S]*?)\n {2}fi\n/.exec(postinst)?.[1] ?? '';
  const [line = ''] = first.match(/^ *sed .*$/m) ?? [];
  await Bun.$`sh -c ${line.replace('/etc/gatepost/gatepost.toml', file)}`;
  expect(set()).toEqual(['strangers = "quiet"']);
});
