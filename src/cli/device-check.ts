/**
 * `gatepost device check`: runs cases of the device protocol against an app, and reports its
 * mistakes.
 */

import type { Command } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import { DOMAIN_HASH, LINK } from '../device-check/app.ts';
import { CASES, type CheckVerdict, checkDriver, checkPhone } from '../device-check/check.ts';
import { Stage } from '../device-check/stage.ts';
import { checkNames, report, startOf } from './case-report.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { paceValue, portValue } from './values.ts';

interface CheckOptions extends CommonOptions {
  against?: string;
  listen?: number;
  host: string;
  only?: string[];
  pace: number;
}

const NAME_WIDTH = Math.max(...CASES.map(({ name }) => name.length));

/** Returns a line about a verdict. Parts of it come from the app, so they are made visible. */
export function lineOf(one: CheckVerdict): string {
  const { verdict, should, did } = one;
  const start = startOf(one, NAME_WIDTH);
  if (verdict === 'passed') return `${start}${should}`;
  if (verdict === 'skipped') return `${start}${did}`;
  return `${start}the app ${visible(did ?? '')}; it should ${should}`;
}

async function check(context: CliContext, options: CheckOptions): Promise<void> {
  const { against, host, json, listen, pace } = options;
  const names = CASES.map(({ name }) => name);
  checkNames(CASES, options.only ?? [], `; the cases: ${names.join(', ')}`);
  const cases = (options.only ?? names).flatMap((name) => CASES.filter((one) => one.name === name));
  if ((against === undefined) === (listen === undefined)) {
    throw new UsageError('one of --against and --listen is required');
  }
  await report<CheckVerdict>(context, json, lineOf, async (tell) => {
    if (against !== undefined) return checkDriver(against, cases, { pace }, tell);
    const stage = new Stage(host, listen ?? 0, 1);
    context.stderr(
      `point the app at ${stage.url}, with the link ${LINK} and the domain hash ${DOMAIN_HASH}\n`,
    );
    return checkPhone(stage, cases, {}, tell).finally(() => stage.stop());
  });
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
