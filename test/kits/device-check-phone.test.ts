/** `gatepost device check --listen`: an app may pause for as long as the protocol lets it. */

import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { CASES, type CheckVerdict, checkPhone } from '../../src/device-check/check.ts';
import { Stage } from '../../src/device-check/stage.ts';
import { KitApp } from '../support/kit-driver.ts';
import { cleanUp, ROOT } from '../support/process.ts';
import { PATIENCE_MS } from '../support/until.ts';

setDefaultTimeout(4 * PATIENCE_MS);
afterAll(cleanUp);

const PACE = 0.05;

/** Plays cases with the kit for TypeScript, which the check does not drive. */
async function verdictsOf(names: readonly string[], slackMs: number): Promise<CheckVerdict[]> {
  const stage = new Stage('127.0.0.1', 0, PACE);
  const driver = [process.execPath, join(ROOT, 'sdk/typescript/driver.ts')];
  const phone = new KitApp(driver, stage.url, { pace: PACE });
  const found: CheckVerdict[] = [];
  try {
    phone.start();
    const cases = names.flatMap((name) => CASES.filter((one) => one.name === name));
    await checkPhone(stage, cases, { pace: PACE, slackMs }, (verdict) => found.push(verdict));
  } finally {
    await phone.remove();
    stage.stop();
  }
  return found;
}

test('pauses that grew over cases are waited for', async () => {
  // Streams that do not hold for ten seconds: the last pauses are 30 s and 60 s.
  const closings = [1001, 1008, 1011, 1013, 4003].map((code) => `close-${code}`);
  const found = await verdictsOf([...closings, 'confirmed', 'close-1001', 'close-1008'], 1_000);
  expect(found.filter(({ verdict }) => verdict !== 'passed')).toEqual([]);
  expect(found).toHaveLength(8);
});

test('a phone plays what needs no driver; the rest says what it needs', async () => {
  const found = await verdictsOf(['pauses', 'message', 'restart', 'pauses-reset'], 5_000);
  expect(found.map(({ case: name, verdict }) => [name, verdict])).toEqual([
    ['pauses', 'passed'],
    ['message', 'passed'],
    ['restart', 'skipped'],
    ['pauses-reset', 'passed'],
  ]);
});
