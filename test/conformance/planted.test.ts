/**
 * Faults that real servers have, planted one at a time in a copy of the sources: each is found by
 * a case, which names the place where the answer differs.
 */

import { afterAll, expect, test } from 'bun:test';
import { cpSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CaseVerdict } from '../../src/conformance/run.ts';
import { cleanUp, ROOT, temporaryFolder } from '../support/process.ts';
import { FAULTS, type Fault } from './faults.ts';

/** The files that a server needs to run from a copy of its sources. */
const PARTS = [
  'src',
  'migrations',
  'conformance',
  'sdk/typescript',
  'test/support',
  'package.json',
];
const CHILD = 'test/support/conforming-child.ts';
const WORKERS = 2;

afterAll(cleanUp);

/** Makes a copy of the sources with a fault; it shares the other files with `whole`. */
function plant(whole: string, { file, text, instead }: Fault): string {
  const copy = join(temporaryFolder(), 'copy');
  const { exitCode, stderr } = Bun.spawnSync(['cp', '-al', whole, copy]);
  if (exitCode !== 0) throw new Error(String(stderr));
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  rmSync(path);
  writeFileSync(
    path,
    source.replace(text, () => instead),
  );
  return copy;
}

/** Returns where cases find faults, or what else came about; one process plays them all. */
async function placesOf(whole: string, faults: readonly Fault[]): Promise<string[]> {
  const words = faults.flatMap((fault) => [plant(whole, fault), fault.case]);
  const child = Bun.spawn([process.execPath, CHILD, ...words], { cwd: whole, stderr: 'pipe' });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const lines = out.trim().split('\n');
  return faults.map((_, n) => {
    const verdict: CaseVerdict | null = lines[n] ? JSON.parse(lines[n]) : null;
    return verdict === null ? err : (verdict.difference?.path ?? verdict.verdict);
  });
}

test('each planted fault is found by a case, at its place', async () => {
  const whole = temporaryFolder();
  for (const part of PARTS) cpSync(join(ROOT, part), join(whole, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(whole, 'node_modules'));
  const missed: unknown[] = [];
  const work = async (worker: number) => {
    const faults = FAULTS.filter((_, n) => n % WORKERS === worker);
    for (const [n, place] of (await placesOf(whole, faults)).entries()) {
      if (place !== faults[n]?.place) missed.push({ ...faults[n], found: place });
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => work(worker)));
  expect(missed).toEqual([]);
}, 240_000);
