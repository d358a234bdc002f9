/**
 * `gatepost device check`: runs cases of the device protocol against an app, and reports its
 * mistakes.
 */

import type { Command } from 'commander';
import { counted } from '../core/counted.ts';
import { DOMAIN_HASH, LINK } from '../device-check/app.ts';
import { CASES, checkDriver, checkPhone, type Verdict } from '../device-check/check.ts';
import type { Case } from '../device-check/scene.ts';
import { Stage } from '../device-check/stage.ts';
import { OperatorError, UsageError } from '../operator-error.ts';
import { visible } from '../visible.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { paceValue, portValue } from './values.ts';

interface CheckOptions extends CommonOptions {
  against?: string;
  listen?: number;
  host: string;
  only?: string[];
  pace: number;
}

function casesOf(names: readonly string[] | undefined): readonly Case[] {
  if (names === undefined) return CASES;
  return names.map((name) => {
    const found = CASES.find((one) => one.name === name);
    if (found !== undefined) return found;
    const all = CASES.map((one) => one.name).join(', ');
    throw new UsageError(`there is no case ${name}; the cases: ${all}`);
  });
}

const SIGNS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const;
const NAME_WIDTH = Math.max(...CASES.map(({ name }) => name.length));

/** Returns a line about a verdict. Parts of it come from the app, so they are made visible. */
export function lineOf({ case: name, verdict, should, did }: Verdict): string {
  const start = `${SIGNS[verdict]}  ${name.padEnd(NAME_WIDTH)}  `;
  if (verdict === 'passed') return `${start}${should}`;
  if (verdict === 'skipped') return `${start}${did}`;
  return `${start}the app ${visible(did ?? '')}; it should ${should}`;
}

async function check(context: CliContext, options: CheckOptions): Promise<void> {
  const { against, host, json, listen, pace } = options;
  const cases = casesOf(options.only);
  if ((against === undefined) === (listen === undefined)) {
    throw new UsageError('one of --against and --listen is required');
  }
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const tell = (verdict: Verdict) => {
    counts[verdict.verdict] += 1;
    context.stdout(`${json ? JSON.stringify(verdict) : lineOf(verdict)}\n`);
  };
  if (against !== undefined) {
    await checkDriver(against, cases, { pace }, tell);
  } else {
    const stage = new Stage(host, listen ?? 0, 1);
    context.stderr(
      `point the app at ${stage.url}, with the link ${LINK} and the domain hash ${DOMAIN_HASH}\n`,
    );
    await checkPhone(stage, cases, tell).finally(() => stage.stop());
  }
  const { failed, passed, skipped } = counts;
  if (!json) context.stdout(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
  if (failed > 0) throw new OperatorError(`${counted(failed, 'case')} failed`);
}

export function addDeviceCheckCommand(device: Command, context: CliContext): void {
  device
    .command('check')
    .description('test an app with the cases of the device protocol, and report its mistakes')
    .option('--against <command>', 'start this driver of a kit and control it')
    .option('--listen <port>', 'wait for an app that connects to this port', portValue)
    .option('--host <address>', 'the address that --listen listens on', '127.0.0.1')
    .option('--only <case...>', 'run only these cases')
    .option('--pace <number>', 'multiplies all times of a driver', paceValue, 0.1)
    .action((options: CheckOptions) => check(context, options));
}
