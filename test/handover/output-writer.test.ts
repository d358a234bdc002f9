/** The process that stays root's to make files: what it takes from the command. */

import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MakingFile } from '../../src/handover/output-line.ts';
import { OUTPUT_WRITER } from '../../src/handover/output-line.ts';
import { binary, plainEnv, temporaryFolder } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

/** Runs the process with these bytes on its input, and no more. */
function written(making: MakingFile, input: string) {
  const { exitCode, stderr } = Bun.spawnSync([binary(), OUTPUT_WRITER, JSON.stringify(making)], {
    stdin: Buffer.from(input),
    env: plainEnv(),
  });
  return { code: exitCode, problem: String(stderr) };
}

const head = (name: string | null, bytes: number) => `${JSON.stringify({ name, bytes })}\n`;
const END = head(null, 0);

test('a file has its name once it is whole', () => {
  const folder = temporaryFolder();
  const making = { target: join(folder, 'a'), isFolder: false, replaces: false };
  // The command ended: after the half of a file, before one, and without one.
  expect(written(making, `${head('', 10)}12345`)).toEqual({
    code: 1,
    problem: 'the command was ended before its file was whole',
  });
  expect(written(making, '').code).toBe(1);
  expect(written(making, END)).toEqual({ code: 0, problem: '' });
  expect(readdirSync(folder)).toEqual([]);
  expect(written(making, `${head('', 5)}12345${END}`)).toEqual({ code: 0, problem: '' });
  expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('12345');
  expect(written(making, `${head('', 5)}54321${END}`)).toEqual({
    code: 1,
    problem: `${join(folder, 'a')} exists: choose another name, or --force`,
  });
  expect(readdirSync(folder)).toEqual(['a']);
});

test('a name leads to no other folder', () => {
  const folder = temporaryFolder();
  const making = { target: join(folder, 'qr'), isFolder: true, replaces: true };
  for (const name of ['../b', 'c/../../b', 'c/b', '..']) {
    const { code, problem } = written(making, `${head(name, 1)}x${END}`);
    expect([name, code]).toEqual([name, 1]);
    expect(problem).not.toBe('');
  }
  expect(existsSync(join(folder, 'b'))).toBe(false);
  expect(written(making, `${head('b', 1)}x${head('c', 1)}y${END}`).code).toBe(0);
  expect(readdirSync(making.target).sort()).toEqual(['b', 'c']);
});
