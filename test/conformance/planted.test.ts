/**
 * Faults that real servers have, planted one at a time in a copy of the sources: each is found by
 * a case, which names the place where the answer differs.
 */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../../src/conformance/run.ts';
import { cleanUp, ROOT, temporaryFolder } from '../support/process.ts';
import { readText } from '../support/tree.ts';

/** In `faults.txt`: case, place and source, then what is taken out and what is put in. */
interface Fault {
  case: string;
  place: string;
  file: string;
  text: string;
  instead: string;
}

const FAULTS = readText('test/conformance/faults.txt')
  .trim()
  .split('\n\n')
  .map((fault): Fault => {
    const [head = '', ...lines] = fault.split('\n');
    const [name = '', place = '', file = ''] = head.split(' ');
    const those = (sign: string) =>
      lines.flatMap((line) => (line.startsWith(sign) ? [line.slice(1)] : [])).join('\n');
    return { case: name, place, file, text: those('-'), instead: those('+') };
  });

/** What a server needs to run from a copy of its sources. */
const PARTS = [
  'src',
  'migrations',
  'conformance',
  'sdk/typescript',
  'test/support',
  'package.json',
];
const CHILD = 'test/support/conforming-child.ts';
/** Copies, of which each has one fault at a time. */
const WORKERS = 2;
const waiting: string[] = [];

beforeAll(() => {
  for (let n = 0; n < WORKERS; n++) {
    const copy = temporaryFolder();
    for (const part of PARTS) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    waiting.push(copy);
  }
});
afterAll(cleanUp);

/** Returns where a case finds a fault, or what else came about. */
async function placeOf({ case: name, file, text, instead }: Fault): Promise<string> {
  const copy = waiting.pop() ?? '';
  const path = join(copy, file);
  const source = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    source.replace(text, () => instead),
  );
  try {
    const child = Bun.spawn([process.execPath, CHILD, name], { cwd: copy, stderr: 'pipe' });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    const verdict: Verdict | null = out === '' ? null : JSON.parse(out);
    return verdict === null ? err : (verdict.difference?.path ?? verdict.verdict);
  } finally {
    writeFileSync(path, source);
    waiting.push(copy);
  }
}

test('each text is in its file exactly once', () => {
  const wrong = FAULTS.filter(({ file, text }) => readText(file).split(text).length !== 2);
  expect(wrong).toEqual([]);
  expect(FAULTS.length).toBeGreaterThanOrEqual(30);
});

test('each planted fault is found by a case, at its place', async () => {
  const queue = [...FAULTS];
  const missed: unknown[] = [];
  const work = async () => {
    for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
      const place = await placeOf(fault);
      if (place !== fault.place) missed.push({ ...fault, found: place });
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  expect(missed).toEqual([]);
}, 240_000);
