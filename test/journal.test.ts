/** Lines for the journal of systemd begin with their priority; all others do not. */

import { expect, test } from 'bun:test';
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeLog } from '../src/base/log.ts';
import { isJournal, withPriority } from '../src/cli/journal.ts';
import { plainEnv, ROOT, temporaryFolder } from './support/process.ts';
import { until } from './support/until.ts';
import { useProcesses } from './support/use-processes.ts';

useProcesses();

/** A file in the place of the journal's stream. */
function stream() {
  const path = join(temporaryFolder(), 'stream');
  const fd = openSync(path, 'w');
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return { fd, variable: `${dev}:${ino}`, text: () => readFileSync(path, 'utf8') };
}

test('the journal is the stream that the variable names, and no other', () => {
  const [own, other] = [stream(), stream()];
  expect(isJournal(own.variable, own.fd)).toBe(true);
  expect(isJournal(other.variable, own.fd)).toBe(false);
  expect(isJournal(undefined, own.fd)).toBe(false);
  expect(isJournal('', own.fd)).toBe(false);
  closeSync(own.fd);
  expect(isJournal(own.variable, own.fd)).toBe(false);
});

test('each line of a text has the priority of its level', () => {
  expect(withPriority('error', 'one\n  two\n')).toBe('<3>one\n<3>  two\n');
  const levels = ['error', 'warn', 'info', 'debug'] as const;
  expect(levels.map((level) => withPriority(level, 'x'))).toEqual(['<3>x', '<4>x', '<6>x', '<7>x']);
});

test('the log says the level of each line', () => {
  const got: string[] = [];
  const settings = { logFormat: 'human', logLevel: 'debug' } as const;
  const log = makeLog(
    settings,
    () => 0,
    (_, level) => got.push(level),
  );
  const levels = ['error', 'warn', 'info', 'debug'] as const;
  for (const level of levels) log[level]('event');
  expect(got).toEqual([...levels]);
});

/** Runs the program with stderr in the stream until all these lines are there. */
async function printed(words: string[], env: Record<string, string>, lines: RegExp[]) {
  const { fd, variable, text } = stream();
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/main.ts'), ...words], {
    env: plainEnv({ ...env, ...(env['JOURNAL_STREAM'] === '' && { JOURNAL_STREAM: variable }) }),
    stdio: ['ignore', 'pipe', fd],
  });
  try {
    await until('what it prints', async () => {
      if (/ started /.test(text())) process.kill(child.pid, 'SIGHUP');
      return lines.every((line) => line.test(text()));
    });
    return text();
  } finally {
    child.kill('SIGTERM');
    await child.exited;
    closeSync(fd);
  }
}

for (const [where, variable] of [
  ['in the journal', ''],
  ['elsewhere, as a child of a service', '8:1'],
] as const) {
  test(`a server's log and a command's failure ${where}`, async () => {
    const folder = temporaryFolder();
    const config = join(folder, 'gatepost.toml');
    const env = { GATEPOST_CONFIG: config, JOURNAL_STREAM: variable };
    for (const format of ['human', 'json']) {
      const end = format === 'json' ? /"event":"config_reloaded"/ : / config_reloaded /;
      writeFileSync(config, `[log]\nlevel = "debug"\nformat = "${format}"\n`, { mode: 0o600 });
      const words = ['serve', '--port', '0', '--data', join(folder, format)];
      const text = await printed(words, env, format === 'json' ? [/started/] : [end]);
      const level = (line: string) => /"level":"(\w+)"| (debug|info|warn|error) /.exec(line);
      for (const line of text.trim().split('\n')) {
        const [, json, human] = level(line) ?? [];
        const sign = { debug: 7, info: 6, warn: 4, error: 3 }[json ?? human ?? ''];
        expect(line).toMatch(variable === '' ? new RegExp(`^<${sign}>[^<]`) : /^[^<]/);
      }
    }
    writeFileSync(config, '[log]\nlevel = 1\nformat = 2\n', { mode: 0o600 });
    const text = await printed(['serve', '--data', folder], env, [/log.format/]);
    const sign = variable === '' ? '<3>' : '';
    expect(text.trim().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^${sign}gatepost: 2 errors in`)),
      expect.stringMatching(new RegExp(`^${sign}  .*:2: log.level must be`)),
      expect.stringMatching(new RegExp(`^${sign}  .*:3: log.format must be`)),
    ]);
  });
}
