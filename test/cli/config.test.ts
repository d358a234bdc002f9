/** The configuration as the operator meets it: `gatepost config`, mistakes, SIGHUP. */

import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, type ServerProcess, startServe, temporaryFolder } from '../support/process.ts';
import { readText } from '../support/tree.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

interface Shown {
  file: string | null;
  settings: { key: string; variable: string; value: string; origin: string }[];
}

/** Keys and variables as the page names them, by its rule where a row has no variable. */
function documented(): string[] {
  const rows = readText('docs/configuration.md').matchAll(
    /^\| `([a-z0-9_.]+)` \| (?:`(GATEPOST_[A-Z_]+)`|(\*\(file only\)\*)|) \| .* \| .*\|$/gm,
  );
  return [...rows].map(([, key = '', named, isOfFile]) => {
    const usual = `GATEPOST_${key.replace(/^(?:server|limits)\./, '').replaceAll('.', '_')}`;
    return `${key} ${isOfFile ? '' : (named ?? usual.toUpperCase())}`;
  });
}

test('every setting of gatepost config is documented, and no other', async () => {
  const { code, stdout } = await run(['config', '--json']);
  expect(code).toBe(0);
  const shown: Shown = JSON.parse(stdout);
  expect(shown.file).toBeNull();
  expect(shown.settings.length).toBeGreaterThan(20);
  expect(shown.settings.map(({ key, variable }) => `${key} ${variable}`)).toEqual(documented());
});

test('gatepost config tells where each value comes from, and masks secrets', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'my.toml');
  writeFileSync(file, '[server]\nport = 9000\n\n[log]\nformat = "json"\n', { mode: 0o600 });
  const env = { GATEPOST_LOG_FORMAT: 'human', GATEPOST_BACKUP_PASSPHRASE: 'open sesame' };
  const { stdout } = await run(['config', '--config', file, '--data', folder], { env });
  expect(stdout).toStartWith(`Configuration file: ${file}\n`);
  const line = (key: string) =>
    stdout
      .split('\n')
      .find((row) => row.startsWith(`${key} `))
      ?.split(/ {2,}/);
  expect(line('data')).toEqual(['data', folder, '--data']);
  expect(line('server.port')).toEqual(['server.port', '9000', `${file}:2`]);
  expect(line('log.format')).toEqual(['log.format', 'human', 'GATEPOST_LOG_FORMAT']);
  expect(line('backup.passphrase')?.slice(1)).toEqual(['********', 'GATEPOST_BACKUP_PASSPHRASE']);
  expect(line('log.level')).toEqual(['log.level', 'info', 'default']);
  expect(stdout).not.toContain('sesame');
});

test('gatepost config names the files of the folder, and where each value stands', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'my.toml');
  mkdirSync(join(folder, 'my.d'), { mode: 0o700 });
  writeFileSync(file, '[server]\nport = 9000\n', { mode: 0o600 });
  const more = join(folder, 'my.d/10-log.toml');
  writeFileSync(more, '# the log\n[log]\nformat = "json"\n', { mode: 0o600 });
  const words = ['config', '--config', file];
  const { stdout } = await run(words);
  expect(stdout).toStartWith(`Configuration file: ${file}\nand: ${more}\n\n`);
  expect(stdout.match(/^log\.format +(.*)$/m)?.[1]?.split(/ +/)).toEqual(['json', `${more}:3`]);
  expect(JSON.parse((await run([...words, '--json'])).stdout).files).toEqual([file, more]);
});

test('gatepost config --example is a file that can be used as it is', async () => {
  const file = join(temporaryFolder(), 'gatepost.toml');
  writeFileSync(file, (await run(['config', '--example'])).stdout, { mode: 0o600 });
  const env = { GATEPOST_MONITOR_PORT: '' };
  const { code, stdout } = await run(['config', '--json', '--config', file], { env });
  expect(code).toBe(0);
  const shown: Shown = JSON.parse(stdout);
  // A new installation is quiet; one without the setting is not.
  const own = shown.settings.filter(({ origin }) => origin !== 'default');
  expect(own).toMatchObject([{ key: 'server.strangers', value: 'quiet' }]);
});

describe('SIGHUP', () => {
  /** A server on a file of its own in its data directory. */
  async function started(text: string): Promise<{ server: ServerProcess; file: string }> {
    const dataDir = join(temporaryFolder(), 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    const file = join(dataDir, 'gatepost.toml');
    writeFileSync(file, text, { mode: 0o600 });
    // An empty variable is as good as none: the file in the data directory holds.
    return { server: await startServe({ dataDir, env: { GATEPOST_CONFIG: '' } }), file };
  }

  const said = (server: ServerProcess, words: string) =>
    until(words, () => server.stderr().includes(words));

  test('takes up what may change in flight and names what waits', async () => {
    const { server, file } = await started('[server]\noutput_zone = "+03:00"\n');
    const now = '[server]\noutput_zone = "-05:00"\nhost = "::1"\n[log]\nformat = "json"\n';
    writeFileSync(file, now);
    process.kill(server.pid, 'SIGHUP');
    await said(server, '"event":"config_needs_restart","changed":"server.host"');
    expect(server.stderr()).toContain(
      '"event":"config_reloaded","changed":"server.output_zone, log.format"',
    );
    const { code } = await server.stop();
    expect(code).toBe(0);
  });

  test('leaves everything as it is when a file beside it contradicts it', async () => {
    const { server, file } = await started('[limits]\nstreams_max = 5\n');
    const beside = file.replace(/toml$/, 'd');
    mkdirSync(beside, { mode: 0o700 });
    writeFileSync(join(beside, '10-a.toml'), '[log]\nlevel = "debug"\n', { mode: 0o600 });
    process.kill(server.pid, 'SIGHUP');
    await said(server, 'config_reloaded changed=log.level');
    writeFileSync(join(beside, '20-b.toml'), '[log]\nlevel = "warn"\n', { mode: 0o600 });
    process.kill(server.pid, 'SIGHUP');
    await said(server, 'config_not_reloaded');
    expect(server.stderr()).toContain(
      `${beside}/20-b.toml:2: log.level has another value at ${beside}/10-a.toml:2: remove one of the two`,
    );
    await server.stop();
  });

  test('leaves everything as it is when the file has mistakes', async () => {
    const { server, file } = await started('[limits]\nstreams_max = 5\n');
    writeFileSync(file, '[limits]\nstreams_max = -1\nfoo = 2\n');
    process.kill(server.pid, 'SIGHUP');
    await said(server, 'config_not_reloaded');
    expect(server.stderr()).toContain('2 errors in the configuration');
    expect((await fetch(`${server.url}/api/list-install`)).status).toBe(200);
    await server.stop();
  });
});
