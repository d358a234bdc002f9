/** Runs the cases against an app, and reports each as it ends. */

import type { PeerVerdict } from '../peer/verdict.ts';
import { Driver } from './app.ts';
import { DEVICE_CASES } from './cases-device.ts';
import { LINE_CASES } from './cases-line.ts';
import { MESSAGE_CASES } from './cases-message.ts';
import { SLOT_CASES } from './cases-slot.ts';
import { TIME_CASES } from './cases-time.ts';
import { type Case, Fault, Scene, Skipped } from './scene.ts';
import { Stage } from './stage.ts';

export const CASES: readonly Case[] = [
  ...DEVICE_CASES,
  ...SLOT_CASES,
  ...MESSAGE_CASES,
  ...LINE_CASES,
  ...TIME_CASES,
];

export interface CheckVerdict extends PeerVerdict {
  should: string;
  /** The wrong behaviour of the app; null: it passed. */
  did: string | null;
}

/** The distance between ids of two cases, so that they never meet. */
const IDS_EACH = 1_000;
/** The most characters of a driver's output in a verdict. */
const NOISE_LENGTH_MAX = 300;
/** The most apps that run at the same time. */
const AT_ONCE = 4;
/** The tolerance for a busy machine: a case does not fail because the app is this late, ms. */
const SLACK_MS = 5_000;

const passed = ({ name, should }: Case): CheckVerdict => ({
  case: name,
  verdict: 'passed',
  should,
  did: null,
});

async function verdictOf(one: Case, scene: Scene): Promise<CheckVerdict> {
  try {
    await one.play(scene);
    return passed(one);
  } catch (problem) {
    const { message } = problem as Error;
    if (problem instanceof Skipped) return { ...passed(one), verdict: 'skipped', did: message };
    if (!(problem instanceof Fault)) throw problem;
    return { ...passed(one), verdict: 'failed', did: message };
  }
}

/** Plays each case with a new installation of the app, which a command starts. */
export async function checkDriver(
  command: string,
  cases: readonly Case[],
  { pace, slackMs = SLACK_MS }: { pace: number; slackMs?: number },
  tell: (verdict: CheckVerdict) => void,
): Promise<void> {
  const waiting = [...cases];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const stage = new Stage('127.0.0.1', 0, pace);
      const driver = new Driver(command, stage, pace);
      try {
        const verdict = await verdictOf(one, new Scene(stage, driver, pace, slackMs, IDS_EACH));
        const noise = driver.noise[0]?.slice(0, NOISE_LENGTH_MAX);
        const isNoisy = verdict.verdict === 'failed' && noise !== undefined;
        tell(isNoisy ? { ...verdict, did: `${verdict.did}; the driver said: ${noise}` } : verdict);
      } finally {
        await driver.end();
        stage.stop();
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/**
 * Plays the cases that need no driver, one after the other, with a phone that connects here. `pace`
 * is that of the stage.
 */
export async function checkPhone(
  stage: Stage,
  cases: readonly Case[],
  { pace = 1, slackMs = SLACK_MS }: { pace?: number; slackMs?: number },
  tell: (verdict: CheckVerdict) => void,
): Promise<void> {
  for (const [at, one] of cases.entries()) {
    if (one.needsDriver === true) {
      tell({ ...passed(one), verdict: 'skipped', did: 'it needs --against' });
      continue;
    }
    stage.script = {};
    const scene = new Scene(stage, null, pace, slackMs, (at + 1) * IDS_EACH);
    tell(await verdictOf(one, scene));
  }
}
