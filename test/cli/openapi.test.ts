/** `gatepost openapi`: needs no data, and prints what a server has at /openapi.json. */

import { expect, test } from 'bun:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { document } from '../support/openapi.ts';
import { run, shell } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

test('prints the document as JSON, compact for machines', async () => {
  const { code, stderr, stdout } = await run(['openapi']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`${JSON.stringify(document, null, 2)}\n`);
  expect((await run(['openapi', '--json'])).stdout).toBe(`${JSON.stringify(document)}\n`);
});

test('prints it as YAML, which another library reads as the same document', async () => {
  const { code, stderr, stdout } = await run(['openapi', '--yaml']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const validator = new Validator();
  expect(await validator.validate(stdout)).toEqual({ valid: true });
  expect(validator.specification as unknown).toEqual(JSON.parse(JSON.stringify(document)));
});

test('a pipe, which takes 64 KiB at a time, gets all of it', () => {
  const bytes = Buffer.byteLength(JSON.stringify(document)) + 1;
  expect(bytes).toBeGreaterThan(65_536);
  const counted = shell('GATEPOST openapi --json | wc -c');
  expect(counted).toEqual({ code: 0, stdout: `${bytes}\n`, stderr: '' });
});

test('a reader that leaves is no error, a device that is full is one', () => {
  expect(shell('GATEPOST openapi | head -n 1')).toEqual({ code: 0, stdout: '{\n', stderr: '' });
  const full = shell('GATEPOST openapi > /dev/full');
  expect(full).toMatchObject({ code: 1, stdout: '' });
  expect(full.stderr).toStartWith('gatepost: cannot write the output: ENOSPC');
});
