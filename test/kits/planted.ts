/** Faults that are planted in a copy of a kit: `gatepost device check` must find each. */

import { expect } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CASES, type CheckVerdict, checkDriver } from '../../src/device-check/check.ts';
import { temporaryFolder } from '../support/process.ts';

/** The case that finds the fault, what it says, and the fault: a file, a text, its replacement. */
export type Fault = readonly [string, RegExp, string, string, string];

/** The most faults that are played at the same time: an app that starts late hides its fault. */
const AT_ONCE = 4;
let playing = 0;
const waiting: (() => void)[] = [];

/** Waits until fewer are played. */
async function inTurn<T>(play: () => Promise<T>): Promise<T> {
  while (playing >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  playing += 1;
  try {
    return await play();
  } finally {
    playing -= 1;
    waiting.shift()?.();
  }
}

/**
 * Plants a fault in a copy of a kit, and expects that its case finds it at one of the paces: a busy
 * machine hides faults of time. `driverIn` returns the command of the driver in a folder.
 */
export async function findsFault(
  kit: string,
  driverIn: (folder: string) => string,
  [name, did, file, text, instead]: Fault,
  paces: readonly number[],
  slackMs = 1_000,
): Promise<void> {
  const folder = temporaryFolder();
  cpSync(kit, folder, { recursive: true });
  const source = readFileSync(join(kit, file), 'utf8');
  expect(source.split(text).length).toBe(2);
  writeFileSync(
    join(folder, file),
    source.replace(text, () => instead),
  );
  const cases = CASES.filter((one) => one.name === name);
  expect(cases).toHaveLength(1);
  let verdict: CheckVerdict | null = null as CheckVerdict | null;
  for (const pace of paces) {
    const tell = (found: CheckVerdict) => {
      verdict = found;
    };
    await inTurn(() => checkDriver(driverIn(folder), cases, { pace, slackMs }, tell));
    if (verdict?.verdict === 'failed' && did.test(verdict.did ?? '')) break;
  }
  expect(verdict).toMatchObject({
    case: name,
    verdict: 'failed',
    did: expect.stringMatching(did),
  });
}
