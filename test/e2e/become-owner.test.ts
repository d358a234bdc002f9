/** Root runs a command for the data of another user: it becomes that user first. */

import { describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  HOME,
  KEYS,
  packaged,
  SERVICE,
  testPackaged,
  withProvider,
} from '../support/as-packaged.ts';
import { ROOT } from '../support/process.ts';
import { readText } from '../support/tree.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

type Place = ReturnType<typeof withProvider>;

/** Files of the data directory that the service does not own. */
function foreign({ at }: Place): string[] {
  const folder = at('/var/lib/gatepost');
  const names = readdirSync(folder, { recursive: true }).map(String);
  return names.filter((name) => {
    const { uid, gid } = lstatSync(join(folder, name));
    return uid !== SERVICE || gid !== SERVICE;
  });
}

describe('the data', () => {
  testPackaged('belong to the service after each command, and the log names who called', () => {
    const place = withProvider();
    place.run(['doctor']);
    const commands = ['link add', 'backup /var/lib/gatepost/a.backup', 'audit verify'];
    for (const words of commands) {
      expect([words, place.run(words.split(' ')).code, foreign(place)]).toEqual([words, 0, []]);
    }
    const { stdout } = place.run(['audit', 'list', '--json'], { env: { SUDO_USER: 'alice' } });
    expect(stdout).toContain('root');
  });

  testPackaged('are used with the other groups of the owner', () => {
    const place = withProvider();
    place.put('/etc/gatepost/pass', 'open sesame, please\n', 0o640);
    chownSync(place.at('/etc/gatepost/pass'), 0, KEYS);
    appendFileSync(
      place.at('/etc/gatepost/gatepost.toml'),
      '[backup]\npassphrase_file = "/etc/gatepost/pass"\n',
    );
    const { stdout } = place.run(['backup', '/var/lib/gatepost/a.backup']);
    expect(stdout).toContain('encrypted   yes');
  });

  testPackaged('are those of the owner that the directory has; of root, root stays', () => {
    const place = withProvider();
    mkdirSync(place.at(`${HOME}/own`), { mode: 0o700 });
    const own = ['provider', 'add', '--name', 'y', '--data', `${HOME}/own`];
    expect(place.run(own).code).toBe(0);
    expect(lstatSync(place.at(`${HOME}/own/gatepost.db`)).uid).toBe(0);
  });

  testPackaged('are not opened through a link of their owner', () => {
    const place = withProvider();
    const { run, at } = place;
    mkdirSync(at(`${HOME}/secret`), { mode: 0o700 });
    // The owner of a folder on the way leads root elsewhere.
    mkdirSync(at('/var/lib/gatepost/inner'));
    symlinkSync(`${HOME}/secret`, at('/var/lib/gatepost/inner/data'));
    for (const path of ['/var/lib/gatepost/inner', '/var/lib/gatepost/inner/data']) {
      chownLink(at(path));
    }
    const through = ['provider', 'add', '--name', 'y', '--data', '/var/lib/gatepost/inner/data'];
    expect(run(through)).toMatchObject({
      code: 1,
      stderr: `gatepost: /var/lib/gatepost/inner/data is a symbolic link of user ${SERVICE}: name the directory itself with --data\n`,
    });
    expect(readdirSync(at(`${HOME}/secret`))).toEqual([]);
    // A link of root's is an ordinary way to another disk.
    renameSync(at('/var/lib/gatepost'), at('/var/lib/elsewhere'));
    symlinkSync('elsewhere', at('/var/lib/gatepost'));
    expect(run(['provider', 'list']).code).toBe(0);
  });

  testPackaged('lead root nowhere by a planted configuration', () => {
    const place = withProvider();
    place.put(`${HOME}/secret.toml`, 'geheim = 1\n');
    symlinkSync(`${HOME}/secret.toml`, place.at('/var/lib/gatepost/gatepost.toml'));
    const { stderr } = place.run(['provider', 'list', '--data', '/var/lib/gatepost']);
    expect(stderr).toContain('cannot read /var/lib/gatepost/gatepost.toml: permission denied');
    expect(stderr).not.toContain('geheim');
  });
});

function chownLink(path: string): void {
  Bun.spawnSync(['chown', '-h', `${SERVICE}:${SERVICE}`, path]);
}

/** Becomes an owner beside a worker; prints what each thread and a child are then. */
const PROBE = `
const { become, otherOwner } = await import(process.argv[1]);
const { readdirSync, readFileSync } = require('node:fs');
new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 1000)'])));
await Bun.sleep(50);
become(otherOwner(process.argv[2]), process.env);
await Bun.file('/etc/passwd').text();
const lines = /^(?:Uid|Gid|Groups|CapPrm|CapEff):.*/gm;
const threads = readdirSync('/proc/self/task').map((task) =>
  readFileSync('/proc/self/task/' + task + '/status', 'utf8').match(lines).join(' '));
let back = 'root';
try { process.setuid(0); } catch { back = 'no'; }
const child = Bun.spawnSync(['/bin/sh', '-c', 'id -u; id -g; id -G; env'], { env: process.env }).stdout.toString();
console.log(JSON.stringify({ threads: threads.map((one) => one.replaceAll('\\t', ' ')), back, child }));
process.exit(0);
`;

testPackaged(
  'nothing of root is left: threads, groups, capabilities, environment, children',
  () => {
    const { at } = packaged();
    const { stdout, stderr } = Bun.spawnSync(
      [
        process.execPath,
        '-e',
        PROBE,
        join(ROOT, 'src/handover/become-owner.ts'),
        at('/var/lib/gatepost'),
      ],
      {
        env: {
          PATH: '/usr/bin:/bin',
          TERM: 'dumb',
          HOME: '/root',
          SECRET: 'x',
          LD_LIBRARY_PATH: '/x',
        },
      },
    );
    expect(String(stderr)).toBe('');
    const { threads, back, child } = JSON.parse(String(stdout));
    const id = Array(4).fill(SERVICE).join(' ');
    const none = '0'.repeat(16);
    expect(threads.length).toBeGreaterThan(1);
    expect([...new Set(threads)]).toEqual([
      `Uid: ${id} Gid: ${id} Groups: ${SERVICE}  CapPrm: ${none} CapEff: ${none}`,
    ]);
    expect(back).toBe('no');
    const [uid, gid, groups, ...env] = child.trim().split('\n');
    expect([uid, gid, groups]).toEqual([`${SERVICE}`, `${SERVICE}`, `${SERVICE}`]);
    // The shell adds PWD and its like.
    const kept = env.filter((line: string) => !/^(?:PWD|OLDPWD|SHLVL|_)=/.test(line)).sort();
    expect(kept).toEqual(['HOME=/', 'PATH=/usr/bin:/bin', 'TERM=dumb']);
  },
);

test('each program that is started gets an environment by name', () => {
  // By itself Bun hands on the environment of the start, which root may have given up meanwhile.
  const starts = [...new Bun.Glob('src/**/*.ts').scanSync(ROOT)].flatMap((path) =>
    readText(path)
      .split(/(?=Bun\.spawn\()/)
      .slice(1)
      .filter((text) => !/\benv\b/.test(text.slice(0, 400)))
      .map(() => path),
  );
  // It tries an app out and opens no data.
  expect(starts).toEqual(['src/device-check/app.ts']);
});
