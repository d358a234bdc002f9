/** Long output, to readers who have seen enough and to disks that are full. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashKey } from '../../src/core/secret.ts';
import { cleanUp, run, shell, temporaryFolder } from '../support/process.ts';

/** So much that a pipe does not take it at once, and that it is written in several pieces. */
const LINKS = 3_000;

let folder: string;
let dataDir: string;
beforeAll(async () => {
  folder = temporaryFolder();
  dataDir = join(folder, 'data');
  const times = { active_until_ms: null, suspended_at_ms: null, created_at_ms: 1 };
  const key_sha256 = Buffer.from(hashKey('key')).toString('hex');
  const provider = { code: 'Provide1', name: 'first', plan: 'pro', key_sha256, ...times };
  const links = Array.from({ length: LINKS }, (_, n) => ({
    id: n + 1,
    install_code: `Link${String(n).padStart(8, '0')}`,
    install_limit: 1,
    status: 10,
    note: 'n'.repeat(200),
    created_at_ms: 1,
    hwids: [],
  }));
  const lines = [
    { gatepost_export: 1, provider: { ...provider, install_count_max: null } },
    ...links.map((install) => ({ install })),
    { end: { installs: LINKS, hwids: 0, domains: 0 } },
  ];
  const file = join(folder, 'provider.jsonl');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(await run(['import', file, '--data', dataDir])).toMatchObject({ code: 0, stderr: '' });
});
afterAll(cleanUp);

const exports = ['export Provide1', 'audit export'];

test.each(exports)('%s, to a reader who leaves early: no error', (words) => {
  const { code, stdout, stderr } = shell(`GATEPOST ${words} --data ${dataDir} | head -c 9`);
  expect({ code, length: stdout.length, stderr }).toEqual({ code: 0, length: 9, stderr: '' });
});

test.each(exports)('%s, to a device that is full: one sentence, exit code 1', (words) => {
  const { code, stderr } = shell(`GATEPOST ${words} --data ${dataDir} > /dev/full`);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gatepost: cannot write the output: ENOSPC[^\n]+\n$/);
});

test.each(exports)('%s, to a file that cannot be finished: nothing is left of it', (words) => {
  // Instead of a full disk: no file may grow beyond 64 blocks.
  const limited = `trap '' XFSZ; ulimit -f 64; GATEPOST ${words} ${folder}/out --data ${dataDir}`;
  const { code, stderr } = shell(limited);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^gatepost: cannot write [^\n]+\/out: EFBIG[^\n]+\n$/);
  expect(readdirSync(folder)).not.toContain('out');
});

test.each(exports)('%s - is standard output, not a file of that name', (words) => {
  const { code, stdout } = shell(`cd ${folder}; GATEPOST ${words} - --data ${dataDir}`);
  const { stdout: same } = shell(`GATEPOST ${words} --data ${dataDir}`);
  expect({ code, stdout }).toEqual({ code: 0, stdout: same });
  expect(readdirSync(folder)).not.toContain('-');
});

test('output that a device does not take is a line of JSON too', () => {
  const { code, stderr } = shell('GATEPOST version --json > /dev/full');
  expect(code).toBe(1);
  const { error } = JSON.parse(stderr);
  expect(error).toEqual({
    code: 'failed',
    message: expect.stringMatching(/^cannot write the output: ENOSPC/),
  });
});
