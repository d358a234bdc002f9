/** The program of the package finds its service from any folder, whoever asks. */

import { describe, expect } from 'bun:test';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { HOME, packaged, SERVICE, STRANGER, testPackaged } from '../support/as-packaged.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const service = { user: SERVICE };

describe('in a folder of root, which the user of the service may not enter', () => {
  testPackaged('its commands run', () => {
    const { run } = packaged('data = "/var/lib/gatepost"\n[monitor]\nport = "off"\n');
    const added = run(['provider', 'add', '--name', 'x', '--code', 'MYSHOP01'], service);
    expect(added).toMatchObject({ code: 0, stderr: '' });
    for (const words of ['provider list', 'link list', 'link add', 'stats', 'audit list']) {
      expect([words, run(words.split(' '), service).code]).toEqual([words, 0]);
    }
    const { stdout } = run(['config'], service);
    expect(stdout).toStartWith('Configuration file: /etc/gatepost/gatepost.toml\n');
    expect(stdout).toMatch(/^data +\/var\/lib\/gatepost +\/etc\/gatepost\/gatepost\.toml:1$/m);
  });

  testPackaged('the doctor says what it found, and no stack', () => {
    const { run } = packaged();
    run(['provider', 'add', '--name', 'x'], service);
    for (const who of [service, { user: 0 }]) {
      const { stdout } = run(['doctor'], who);
      expect(stdout).toContain('ok        configuration: /etc/gatepost/gatepost.toml is valid');
      expect(stdout).toContain('data directory: /var/lib/gatepost is private and writable');
    }
    // Another user is refused in words.
    const stranger = run(['doctor'], { user: STRANGER, stand: '/' });
    expect(stranger.code).toBe(1);
    expect(stranger.stdout).toContain(
      'cannot read /etc/gatepost/gatepost.toml: permission denied; run the command as root or as the user of the service',
    );
    expect(stranger.stderr).toMatch(/^gatepost: \d+ problems?\n$/);
  });

  testPackaged('a ./data that is there is not the data of the service', () => {
    const { run, at } = packaged();
    mkdirSync(at(`${HOME}/data`));
    writeFileSync(at(`${HOME}/data/gatepost.toml`), 'nonsense = 1\n');
    chmodSync(at('/root'), 0o755);
    for (const who of [service, { user: 0 }]) {
      expect(run(['config'], who).stdout).toMatch(/^data +\/var\/lib\/gatepost /m);
    }
  });

  testPackaged('without its file the data directory is still that of the service', () => {
    const { run } = packaged('');
    expect(run(['config'], service).stdout).toMatch(/^data +\/var\/lib\/gatepost +default$/m);
    expect(run(['provider', 'list'], service).stderr).toContain(' in /var/lib/gatepost');
  });
});

describe('the program of no package', () => {
  const bare = { ...service, program: 'gatepost-bare' } as const;

  testPackaged('takes what is out of reach as absent', () => {
    const { run, at } = packaged();
    chmodSync(at('/etc/gatepost'), 0o700);
    // In /root nobody but root can reach ./data; nor this file in /etc/gatepost.
    expect(run(['config'], bare).stdout).toMatch(
      /^Configuration file: none\n[\s\S]*^data +\.\/data +default$/m,
    );
    expect(run(['link', 'list'], bare).stderr).toBe(
      'gatepost: the data directory ./data does not exist\n',
    );
    expect(run(['ready'], bare).stderr).toBe('gatepost: not ready: ./data does not exist\n');
    const { stdout } = run(['doctor'], bare);
    expect(stdout).toContain(
      `PROBLEM   data directory: user ${SERVICE} may not enter a folder on the way to ./data`,
    );
    // A server does not start without a file that it cannot reach.
    expect(run(['serve'], bare)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot read /etc/gatepost/gatepost.toml: permission denied'),
    });
  });

  testPackaged('reads a ./data that it can reach', () => {
    const { run, at } = packaged();
    chmodSync(at('/root'), 0o755);
    mkdirSync(at(`${HOME}/data`), { mode: 0o700 });
    writeFileSync(at(`${HOME}/data/gatepost.toml`), '[server]\nport = 9\n');
    chownSync(at(`${HOME}/data`), SERVICE, SERVICE);
    for (const who of [bare, { program: bare.program }]) {
      expect(run(['config'], who).stdout).toStartWith('Configuration file: data/gatepost.toml\n');
    }
  });
});

describe('the folder beside the configuration', () => {
  testPackaged('stops every command and the start while a file of it cannot be read', () => {
    const { run, at } = packaged();
    mkdirSync(at('/etc/gatepost/gatepost.d'), { mode: 0o750 });
    chownSync(at('/etc/gatepost/gatepost.d'), 0, SERVICE);
    const file = '/etc/gatepost/gatepost.d/20-gate.toml';
    writeFileSync(at(file), '[server]\nport = 9000\n', { mode: 0o600 });
    const said = `gatepost: cannot read ${file}: permission denied: run 'chgrp ${SERVICE} ${file} && chmod 640 ${file}'\n`;
    for (const words of [['serve'], ['config'], ['link', 'list']]) {
      for (const who of [service, { user: 0 }]) {
        expect([words, run(words, who).stderr]).toEqual([words, said]);
      }
    }
    expect(run(['doctor']).stdout).toContain(`cannot read ${file}: permission denied`);
    chownSync(at(file), 0, SERVICE);
    chmodSync(at(file), 0o640);
    expect(run(['config']).stdout).toMatch(new RegExp(`^server\\.port +9000 +${file}:2$`, 'm'));
    // What the service could write is not taken from it.
    chownSync(at(file), SERVICE, SERVICE);
    expect(run(['serve'], service).stderr).toBe(
      `gatepost: ${file} belongs to user ${SERVICE}, not to user 0: run 'chown 0 ${file}'\n`,
    );
    chmodSync(at('/etc/gatepost/gatepost.d'), 0o700);
    expect(run(['serve'], service).stderr).toStartWith(
      'gatepost: cannot read /etc/gatepost/gatepost.d: permission denied: run',
    );
  });
});
