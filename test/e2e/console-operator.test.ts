/** The operator's calls at the executable: checks run beside the server; settings are its own. */

import { beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleBrowser } from '../support/console.ts';
import { run, type ServerProcess, startServe } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let server: ServerProcess;
let operator: ConsoleBrowser;
beforeAll(async () => {
  server = await startServe({});
  const site = `http://localhost:${server.port}`;
  const words = ['console', 'link', '--data', server.dataDir, '--url', site, '--json'];
  const { link } = JSON.parse((await run(words)).stdout) as { link: string };
  operator = new ConsoleBrowser(site);
  await operator.get('session.entry', { secret: link.split('entry=')[1] ?? '' });
});

test('the doctor examines the machine', async () => {
  const { findings } = await operator.get('health.examine', {});
  expect(findings.map(({ check }) => check)).toContain('disk space');
  const { doctor, process } = await operator.get('health.read', {});
  expect(doctor?.result).toEqual(findings);
  expect(process).toMatchObject({ notReady: null, isDatabaseFile: true });
});

test('the chain is verified, and settings have the origin that they have at the server', async () => {
  const { check, entryCount } = await operator.get('audit.verify', {});
  expect(check).toMatchObject({ problem: null });
  expect(check?.count).toBeLessThanOrEqual(entryCount);
  expect(check?.count).toBeGreaterThan(0);
  const { rows } = await operator.get('settings.list', {});
  expect(rows.filter(({ value }) => value === server.dataDir)).toHaveLength(1);
});

test('a backup is made, listed and verified; a downloaded copy is restored by its passphrase', async () => {
  expect(await operator.get('backups.make', {})).toEqual({ problem: null });
  const [file] = (await operator.get('backups.list', {}))?.files ?? [];
  expect(await operator.get('backups.verify', { name: file?.name ?? '' })).toEqual({
    problem: null,
  });
  const passphrase = 'correct horse battery';
  const { bytes, problem } = await operator.get('backups.prepare', { passphrase });
  expect(problem).toBeNull();
  const answer = await fetch(`${operator.url}/console/backup`, {
    headers: { cookie: operator.cookie },
  });
  const copy = await answer.bytes();
  expect(copy.length).toBe(bytes ?? 0);
  expect(new TextDecoder().decode(copy.slice(0, 22))).toBe('age-encryption.org/v1\n');
  const folder = mkdtempSync(join(tmpdir(), 'gatepost-copy-'));
  const [path, secret] = [join(folder, 'copy'), join(folder, 'secret')];
  writeFileSync(path, copy);
  writeFileSync(secret, `${passphrase}\n`, { mode: 0o600 });
  const words = ['restore', path, '--verify', '--data', folder, '--passphrase-file', secret];
  expect((await run([...words, '--config', 'none'])).stdout).toContain('is good');
  rmSync(folder, { recursive: true });
});
