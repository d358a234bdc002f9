/** The doctor at the machine: names, disks, limits, ports, clocks and other servers. */

import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { ERRNO_WORDS, wordsOfErrno } from '../../src/base/errno.ts';
import type { Finding } from '../../src/base/finding.ts';
import { messageOf } from '../../src/base/operator-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { checkAcmePort } from '../../src/doctor/acme-port.ts';
import { checkLimits } from '../../src/doctor/cgroup.ts';
import { examine } from '../../src/doctor/examine.ts';
import { checkBackupRoom, checkTimeOfOthers } from '../../src/doctor/machine.ts';
import { checkHook, checkNetworkDisk, readMounts } from '../../src/doctor/mounts.ts';
import { checkServerNames } from '../../src/doctor/names.ts';
import { checkServers } from '../../src/doctor/servers.ts';
import type { Machine } from '../../src/doctor/surroundings.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';
import { freshFolder } from '../support/app.ts';
import { addProviders, NOW_MS } from '../support/backup.ts';
import { MAY_MOUNT, mountSmallDisk } from '../support/small-disk.ts';

let root: string;
beforeEach(() => {
  root = freshFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string) => {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
};

const names = (findings: readonly Finding[]) =>
  findings.map(({ level, name }) => `${level} ${name}`);

function configOf(env: Record<string, string>) {
  return loadConfig({}, { GATEPOST_CONFIG: 'none', ...env }).config;
}

/** No finding is without an action, and no code stands without words. */
function expectWords(findings: readonly Finding[]) {
  for (const { what, todo } of findings) {
    expect(todo ?? '').not.toBe('');
    expect(wordsOfErrno(what)).toBe(what);
  }
}

describe('names', () => {
  const HERE = '192.88.98.7';
  const found: Record<string, readonly string[] | string> = {
    'here.example.org': [HERE],
    'there.example.org': ['192.88.98.9'],
    'six.example.org': [HERE, '2a01:4f8::9'],
    'gone.example.org': 'ENOTFOUND',
    'panel.example.org': ['10.0.0.4'],
  };
  const failed = (code: string) => {
    throw new Error('the name has no address', { cause: Object.assign(new Error(), { code }) });
  };
  const resolve = async (name: string) => {
    const answer = found[name] ?? 'ENOTFOUND';
    return typeof answer === 'string' ? failed(answer) : answer;
  };
  const look = (env: Record<string, string>, isProxied = false, own = [HERE, '127.0.0.1']) =>
    checkServerNames(configOf({ GATEPOST_HOST: '0.0.0.0', ...env }), isProxied, {
      resolve,
      addresses: own,
      mayKnow: (name) => name !== 'local.example.org',
    });
  const acme = (GATEPOST_ACME_DOMAINS: string) => ({ GATEPOST_ACME_DOMAINS });
  const upstream = (host: string, url: string) => ({
    GATEPOST_GATE_UPSTREAM: JSON.stringify([{ host, url, provider: 'CODE1000', default_limit: 3 }]),
  });

  test('that lead here have no finding, nor have names of the documentation', async () => {
    expect(
      await look({
        ...acme('here.example.org'),
        ...upstream('here.example.org', 'http://panel.example.org'),
      }),
    ).toEqual([]);
    expect(await look(acme('local.example.org,*.gone.example.org,192.88.98.1'))).toEqual([]);
  });

  test('of the server or of a panel, that do not resolve', async () => {
    const findings = await look({
      ...acme('gone.example.org'),
      ...upstream('here.example.org', 'http://lost.example.org:8000'),
      GATEPOST_HOSTS: 'bot.example.org',
    });
    expect(findings.map(({ name, subject }) => [name, subject])).toEqual([
      ['name_unresolved', 'gone.example.org'],
      ['name_unresolved', 'bot.example.org'],
      ['name_unresolved', 'lost.example.org'],
    ]);
    expect(findings[2]?.todo).toStartWith('correct url of gate.upstream');
    expectWords(findings);
  });

  test('that lead elsewhere, where this machine has to be', async () => {
    const [four] = await look(acme('there.example.org'));
    expect(four).toMatchObject({ level: 'warning', name: 'name_leads_elsewhere' });
    expect(four?.what).toBe(
      'there.example.org leads to 192.88.98.9, which is no address of this machine: the certificate authority asks there',
    );
    // An old AAAA record: authorities prefer it.
    expect((await look(acme('six.example.org')))[0]?.what).toContain('leads to 2a01:4f8::9,');
    // A proxy, an address translation or another machine of a cluster has the name.
    expect(await look(acme('there.example.org'), true)).toEqual([]);
    expect(await look(acme('there.example.org'), false, ['10.0.0.2'])).toEqual([]);
    expect(await look({ GATEPOST_HOSTS: 'there.example.org' })).toEqual([]);
  });

  test('whose servers do not answer are one problem', async () => {
    const silent = { resolve: async () => failed('ETIMEOUT'), addresses: [], mayKnow: () => true };
    const config = configOf(acme('a.example.org,b.example.org'));
    const findings = await checkServerNames(config, false, silent);
    expect(names(findings)).toEqual(['problem name_servers_silent']);
    expectWords(findings);
  });
});

describe('disks', () => {
  const mounts = (...lines: string[]) => readMounts(put('mountinfo', lines.join('\n')));
  const line = (place: string, kind: string, options = 'rw') =>
    `36 35 98:0 / ${place} ${options} shared:1 master:2 - ${kind} dev rw`;

  test.each(['nfs', 'nfs4', 'cifs', 'smb3', 'fuse.sshfs', '9p'])('of the network: %s', (kind) => {
    const list = mounts(line('/', 'ext4'), line('/srv/my\\040data', kind));
    expect(names(checkNetworkDisk('/srv/my data/gatepost', list))).toEqual([
      'problem data_directory_on_network_disk',
    ]);
    expect(checkNetworkDisk('/srv/my database', list)).toEqual([]);
  });

  test.each(['ext4', 'xfs', 'btrfs', 'zfs', 'tmpfs', 'overlay', 'fuse.mergerfs'])(
    'of this machine: %s',
    (kind) => {
      expect(checkNetworkDisk('/data', mounts(line('/', 'ext4'), line('/data', kind)))).toEqual([]);
      // What is mounted over a network disk hides it.
      expect(checkNetworkDisk('/data', mounts(line('/data', 'nfs'), line('/data', kind)))).toEqual(
        [],
      );
    },
  );

  test('that run no program, where the hook of dns-01 is', () => {
    const hook = put('hook.sh', '#!/bin/sh\n');
    const env = {
      GATEPOST_ACME_DOMAINS: '*.example.org',
      GATEPOST_ACME_CHALLENGE: 'dns-01',
      GATEPOST_ACME_DNS_HOOK: hook,
    };
    chmodSync(hook, 0o700);
    expect(checkHook(configOf(env), mounts(line('/', 'ext4')))).toEqual([]);
    const noexec = checkHook(
      configOf(env),
      mounts(line('/', 'ext4'), line(root, 'ext4', 'rw,noexec')),
    );
    expect(names(noexec)).toEqual(['problem dns_hook_on_noexec_disk']);
    chmodSync(hook, 0o600);
    expect(names(checkHook(configOf(env), []))).toEqual(['problem dns_hook_not_executable']);
    rmSync(hook);
    expect(names(checkHook(configOf(env), []))).toEqual(['problem dns_hook_missing']);
  });

  test.skipIf(!MAY_MOUNT)('without room for the next backup', () => {
    const disk = mountSmallDisk(8);
    if (disk === null) throw new Error('the disk could not be mounted');
    try {
      expect(checkBackupRoom(disk.folder, 1024)).toEqual([]);
      expect(names(checkBackupRoom(join(disk.folder, 'none'), 8 * 1024 ** 2))).toEqual([
        'problem backup_without_room',
      ]);
      // Backups are smaller than the database: the last one says by how much.
      writeFileSync(join(disk.folder, 'gatepost-20261121T033000Z.backup'), 'small');
      expect(checkBackupRoom(disk.folder, 8 * 1024 ** 2)).toEqual([]);
    } finally {
      disk.unmount();
    }
  });
});

describe('limits of the control group', () => {
  const group = (version: 1 | 2, files: Record<string, string>) => {
    const lines =
      version === 2 ? '0::/a/b.service\n' : '4:memory:/a\n3:cpu,cpuacct:/a\n2:pids:/a\n';
    put('proc/self/cgroup', lines);
    for (const [path, text] of Object.entries(files)) put(`sys/fs/cgroup/${path}`, text);
    return checkLimits(null, root);
  };

  test('of version 2, also those of its parents', () => {
    expect(
      group(2, {
        'a/b.service/memory.max': '536870912\n',
        'a/b.service/pids.max': '512\n',
        'a/b.service/cpu.max': '100000 100000\n',
        'a/memory.max': 'max\n',
      }),
    ).toEqual([]);
    const findings = group(2, {
      'a/memory.max': '134217728\n',
      'a/b.service/pids.max': '20\n',
      'a/b.service/cpu.max': '10000 100000\n',
    });
    expect(names(findings)).toEqual([
      'problem memory_limit_low',
      'warning task_limit_low',
      'warning processor_limit_low',
    ]);
    expectWords(findings);
  });

  test('of version 1', () => {
    expect(group(1, { 'memory/a/memory.limit_in_bytes': '9223372036854771712\n' })).toEqual([]);
    expect(
      names(
        group(1, {
          'memory/a/memory.limit_in_bytes': '268435456\n',
          'pids/a/pids.max': '32\n',
          'cpu/a/cpu.cfs_quota_us': '-1\n',
          'cpu/a/cpu.cfs_period_us': '100000\n',
        }),
      ),
    ).toEqual(['warning memory_limit_low', 'warning task_limit_low']);
  });

  test('that the system does not show are none', () => {
    expect(checkLimits(null, join(root, 'none'))).toEqual([]);
  });
});

describe('the port of certificate authorities', () => {
  const look = async (check: (port: number) => Finding[]) => {
    const other = createServer();
    await new Promise<void>((ready) => other.listen(0, '127.0.0.1', ready));
    const address = other.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    try {
      return check(port);
    } finally {
      await new Promise((done) => other.close(done));
    }
  };
  const config = (port: number, more = {}) =>
    configOf({
      GATEPOST_ACME_DOMAINS: 'a.example.org',
      GATEPOST_ACME_HTTP_PORT: String(port),
      ...more,
    });

  test('that another program has', async () => {
    const findings = await look((port) => checkAcmePort('absent', config(port), root));
    expect(names(findings)).toEqual(['problem acme_port_taken']);
    expect(findings[0]?.what).toContain(`(process ${process.pid})`);
  });

  test('that the server has, or would take', async () => {
    const own = (port: number) =>
      ({ pid: 1, ports: [443, port], startedAtMs: null, state: 'serves' }) as const;
    expect(await look((port) => checkAcmePort(own(port), config(port), root))).toEqual([]);
    let free = 0;
    await look((port) => {
      free = port;
      return [];
    });
    expect(checkAcmePort('absent', config(free), root)).toEqual([]);
    expect(names(checkAcmePort(own(443), config(free), root))).toEqual([
      'warning acme_port_not_held',
    ]);
    expect(
      await look((port) =>
        checkAcmePort(
          'absent',
          config(port, { GATEPOST_ACME_CHALLENGE: 'dns-01', GATEPOST_ACME_DNS_HOOK: '/x' }),
          root,
        ),
      ),
    ).toEqual([]);
  });
});

describe('clocks', () => {
  const shown = (offsetMs: number) =>
    checkTimeOfOthers(
      [{ who: 'FCM', date: new Date(NOW_MS - offsetMs).toUTCString(), nowMs: NOW_MS }],
      root,
    );

  test('of other machines, by which this one is ahead or behind', () => {
    expect(shown(100_000)).toEqual([]);
    expect(shown(5 * 86_400_000)[0]).toMatchObject({
      name: 'clock_ahead',
      what: 'the clock is 5 days ahead of that of FCM',
    });
    expect(shown(-3 * 60_000)[0]).toMatchObject({
      name: 'clock_behind',
      what: 'the clock is 3 minutes behind that of FCM',
    });
    expect(checkTimeOfOthers([{ who: 'a', date: 'no date', nowMs: NOW_MS }], root)).toEqual([]);
  });

  test('that no time server keeps right', () => {
    expect(shown(0)).toEqual([]);
    mkdirSync(join(root, 'run/systemd/timesync'), { recursive: true });
    expect(names(shown(0))).toEqual(['warning clock_not_synchronized']);
    put('run/systemd/timesync/synchronized', '');
    expect(shown(0)).toEqual([]);
  });
});

test('two servers on one data directory', async () => {
  const held = () => {
    const lock = join(root, 'gatepost-settings.lock');
    const code = `
      import { takeLock } from '${join(import.meta.dir, '../../src/disk/lock.ts')}';
      takeLock(${JSON.stringify(lock)}, 'shared', 0);
      console.log('held');
      await Bun.stdin.text();`;
    return Bun.spawn([process.execPath, '-e', code], { stdin: 'pipe', stdout: 'pipe' });
  };
  const servers = [held(), held()];
  try {
    for (const { stdout } of servers) await stdout.getReader().read();
    const findings = checkServers(root);
    expect(names(findings)).toEqual(['warning two_servers_on_directory']);
    for (const { pid } of servers) expect(findings[0]?.what).toContain(String(pid));
    servers[0]?.kill('SIGKILL');
    await servers[0]?.exited;
    expect(checkServers(root)).toEqual([]);
  } finally {
    for (const one of servers) one.kill('SIGKILL');
  }
});

test('examine asks all of them', async () => {
  const dataDir = join(root, 'data');
  await addProviders(dataDir, 1);
  put('proc/self/cgroup', '0::/\n');
  put('sys/fs/cgroup/memory.max', '1000000\n');
  mkdirSync(join(root, 'run/systemd/timesync'), { recursive: true });
  const machine: Machine = {
    root,
    mounts: [{ place: dataDir, kind: 'nfs4', options: ['noexec'] }],
    names: { resolve: async () => [], addresses: [], mayKnow: () => true },
  };
  const env = {
    GATEPOST_CONFIG: 'none',
    GATEPOST_DATA: dataDir,
    GATEPOST_PORT: '0',
    GATEPOST_ACME_DOMAINS: 'a.example.org',
    GATEPOST_ACME_HTTP_PORT: '0',
  };
  const loaded = loadConfig({}, env);
  const findings = await examine({ loaded, kind: SQLITE, nowMs: NOW_MS, uid: 0, machine });
  const found = findings.map(({ name }) => name);
  expect(found).toEqual(
    expect.arrayContaining([
      ...['data_directory_on_network_disk', 'memory_limit_low', 'name_unresolved'],
      ...['certificate_awaited', 'clock_not_synchronized'],
    ]),
  );
});

describe('codes of the system', () => {
  test('have words wherever they come from', async () => {
    expect(wordsOfErrno('EADDRINUSE')).toBe('EADDRINUSE: the port is in use');
    expect(wordsOfErrno('connect ECONNREFUSED 127.0.0.1:5432')).toBe(
      'connect ECONNREFUSED 127.0.0.1:5432: the connection is refused, no program listens there',
    );
    expect(wordsOfErrno('getaddrinfo EAI_AGAIN db.example.org; try again')).toBe(
      'getaddrinfo EAI_AGAIN db.example.org: the name servers do not answer; try again',
    );
    const libc = "ENOENT: no such file or directory, open '/none'";
    expect(wordsOfErrno(libc)).toBe(libc);
    expect(wordsOfErrno('EXIT and EUROPE are no codes')).toBe('EXIT and EUROPE are no codes');
    for (const code of Object.keys(ERRNO_WORDS)) {
      const once = messageOf(new Error(code));
      expect(once).toStartWith(`${code}: `);
      expect(messageOf(new Error(once))).toBe(once);
    }
  });
});
