/** The process that reads a panel ends with its import, or before. */

import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPanelInProcess } from '../../src/panel/reader-process.ts';
import { ownCommand } from '../../src/parts/own-program.ts';
import { childrenOf, startImport, statusOf, writeEndless } from '../support/panel-import.ts';
import { plainEnv, ROOT, temporaryFolder } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** Bytes that are read for many minutes. */
const ENDLESS = 4e12;

/** The longest time in which an import ends on a busy machine, ms: below that of a quiet file. */
const SOON_MS = 10_000;

test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  '%s ends both processes and leaves no folder',
  async (signal) => {
    const file = join(temporaryFolder(), 'panel');
    writeEndless(file, '', ENDLESS);
    const { child, ended, tmp } = await startImport([file, '--panel', 'marzban']);
    const [reader = 0] = await until('a process reads', () => {
      const pids = readdirSync(tmp).length > 0 ? childrenOf(child.pid) : [];
      return pids.length > 0 ? pids : undefined;
    });
    const beganMs = performance.now();
    child.kill(signal);
    const { stderr, stdout, exitCode } = await ended;
    expect(stdout).toBe('');
    if (signal !== 'SIGKILL') {
      expect(JSON.parse(stderr).error.code).toBe('interrupted');
      expect(exitCode).toBe(1);
    }
    await until('the reader has ended', () => !/^State:\s[^ZX]/m.test(statusOf(reader)));
    await until('no folder is left', () => readdirSync(tmp).length === 0);
    expect(performance.now() - beganMs).toBeLessThan(SOON_MS);
  },
);

const watch = { signal: new AbortController().signal, memoryMaxMib: 512, onProgress() {} };

test('a file that gives no row ends after a time, from source', async () => {
  const file = join(temporaryFolder(), 'panel');
  writeEndless(file, '', ENDLESS);
  const read = readPanelInProcess(ownCommand(), plainEnv(), 1_500);
  await expect(read({ panel: 'marzban', path: file }, watch)).rejects.toThrow(
    `nothing was stored: ${file} gave no row for 1.5 seconds`,
  );
});

test('a process that the system kills is one sentence', async () => {
  const read = readPanelInProcess(['sh', '-c', 'kill -9 $$'], plainEnv());
  await expect(read({ panel: 'marzban', path: join(ROOT, 'x') }, watch)).rejects.toThrow(
    /^nothing was stored: the process that reads .* was ended, perhaps because memory is short$/,
  );
});
