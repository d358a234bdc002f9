/** The Debian package: documents, examples, first words, and the same bytes each time. */

import { afterAll, beforeAll, expect } from 'bun:test';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { commandTree } from '../../packaging/command-tree.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { freshFolder } from '../support/app.ts';
import { testWith } from '../support/needs.ts';

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
  const pagesOf = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.md$/.test(name));
  const pages = pagesOf(doc);
  expect(pages.sort()).toEqual(
    [...pagesOf(join(import.meta.dir, '../../docs')), 'SECURITY.md'].sort(),
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
      ...['proxy-protocol/haproxy.cfg', 'proxy-protocol/xray.json'],
    ]),
  );
  for (const name of ['port-80.conf', 'socket.conf']) {
    expect(existsSync(join(doc, name)), name).toBe(true);
  }
});

withDpkg('it has the timer of the doctor, which runs a command that there is, and is off', () => {
  const unit = (name: string) =>
    readFileSync(join(root, 'usr/lib/systemd/system', `gatepost-doctor.${name}`), 'utf8');
  const [, words = ''] = /^ExecStart=\/usr\/bin\/gatepost (.*)$/m.exec(unit('service')) ?? [];
  const tree = commandTree(buildProgram({} as Parameters<typeof buildProgram>[0]));
  const doctor = tree.find(({ path }) => path.join(' ') === 'doctor');
  const flags = words.split(' ').filter((word) => word.startsWith('--'));
  expect(flags).toContain('--notify');
  for (const flag of flags) expect(JSON.stringify(doctor)).toContain(flag);
  expect(unit('timer')).toContain('OnCalendar=hourly');
  // A user namespace of its own would hide the server from it.
  expect(unit('service')).not.toContain('PrivateUsers=yes');
  expect(readFileSync(join(root, 'DEBIAN/postinst'), 'utf8')).not.toMatch(
    /enable[^\n]*gatepost-doctor/,
  );
});

/** Runs a script of the package in `root`; the parts of the system that it changes do nothing. */
async function script(name: string, ...words: string[]): Promise<string> {
  const bin = join(folder, 'bin');
  await Bun.$`mkdir -p ${bin} ${root}/etc ${root}/var/lib/gatepost`;
  const stubs = ['systemd-sysusers', 'install', 'chown', 'deb-systemd-helper', 'systemctl'];
  for (const stub of [...stubs, 'deb-systemd-invoke', 'dpkg-statoverride']) {
    // The administrator has no mode of his own.
    const body = stub === 'dpkg-statoverride' ? 'exit 1\n' : '';
    writeFileSync(join(bin, stub), `#!/bin/sh\n${body}`, { mode: 0o755 });
  }
  const places = /(?<![\w/])\/(etc|var\/lib|usr\/share)\/gatepost/g;
  const text = readFileSync(join(root, 'DEBIAN', name), 'utf8').replace(
    places,
    `${root}/$1/gatepost`,
  );
  writeFileSync(join(folder, name), text);
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  return Bun.$`sh ${join(folder, name)} ${words}`.env(env).text();
}

const etc = join(root, 'etc/gatepost');
const config = join(etc, 'gatepost.toml');

withDpkg('the first installation names the next three commands, an upgrade none', async () => {
  const words = await script('postinst', 'configure');
  const tree = commandTree(buildProgram({} as Parameters<typeof buildProgram>[0]));
  const known = tree.map(({ path }) => path.join(' ')).filter((path) => path !== '');
  const lines = [...words.matchAll(/^ {2}\S.* gatepost (?!gatepost)(.*)$/gm)].map(
    ([, line]) => line,
  );
  expect(lines).toHaveLength(3);
  const unknown = lines.filter((line) => !known.some((path) => `${line} `.startsWith(`${path} `)));
  expect(unknown).toEqual([]);
  expect(await script('postinst', 'configure', '1.2.2')).toBe('');
});

withDpkg('no file of the package is in /etc/gatepost, so that dpkg asks about none', () => {
  expect(existsSync(join(root, 'DEBIAN/conffiles'))).toBe(false);
  const files = readdirSync(root, { recursive: true }).map(String);
  expect(
    files.filter((path) => path.startsWith('etc/') && !path.startsWith('etc/gatepost')),
  ).toEqual([]);
});

withDpkg(
  'the first installation makes the configuration, and an upgrade changes nothing',
  async () => {
    rmSync(etc, { recursive: true, force: true });
    await script('postinst', 'configure');
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(readdirSync(etc).sort()).toEqual(['gatepost.d', 'gatepost.toml']);
    expect([etc, join(etc, 'gatepost.d'), config].map(mode)).toEqual([0o750, 0o750, 0o640]);
    const set = readFileSync(config, 'utf8').match(/^[a-z].*/gm);
    expect(set).toEqual(['data = "/var/lib/gatepost"', 'strangers = "quiet"']);
    // The operator's file is kept, and a removed one stays away.
    writeFileSync(config, 'data = "/srv"\n');
    chmodSync(config, 0o600);
    await script('postinst', 'configure', '1.2.2');
    expect([readFileSync(config, 'utf8'), mode(config)]).toEqual(['data = "/srv"\n', 0o600]);
    rmSync(config);
    rmSync(join(etc, 'gatepost.d'), { recursive: true });
    await script('postinst', 'configure', '0.19.0');
    expect(readdirSync(etc)).toEqual(['gatepost.d']);
    // A file that is there before the first installation is kept too.
    writeFileSync(config, 'data = "/mine"\n');
    await script('postinst', 'configure');
    expect(readFileSync(config, 'utf8')).toBe('data = "/mine"\n');
  },
);

withDpkg('a purge removes the configuration, and no key of the operator', async () => {
  await script('postinst', 'configure');
  for (const name of ['gatepost.d/10-a.toml', 'gatepost.toml.dpkg-dist', 'fcm.json']) {
    writeFileSync(join(etc, name), '');
  }
  await script('postrm', 'remove');
  expect(existsSync(config)).toBe(true);
  await script('postrm', 'purge');
  expect(readdirSync(etc)).toEqual(['fcm.json']);
  rmSync(join(etc, 'fcm.json'));
  await script('postrm', 'purge');
  expect(existsSync(etc)).toBe(false);
});
