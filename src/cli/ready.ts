/** `gatepost ready`: for health checks of containers that hold no other program to ask with. */

import type { Command } from 'commander';
import { OperatorError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, flagsOf, print } from './context.ts';

/** How long the monitor may take to answer, ms. */
const ANSWER_MAX_MS = 3_000;
const ANY_ADDRESS: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

async function ready(context: CliContext, options: CommonOptions): Promise<void> {
  const { monitorHost, monitorPort } = context.loadConfig(flagsOf(options)).config;
  if (monitorPort === null) {
    throw new OperatorError('the monitor is off (monitor.port), so nobody can be asked');
  }
  const host = ANY_ADDRESS[monitorHost] ?? monitorHost;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${monitorPort}/readyz`;
  const { isReady, said } = await ask(url);
  if (!isReady) throw new OperatorError(`not ready: ${said}`);
  print(context, options, { ready: true }, 'ready');
}

async function ask(url: string): Promise<{ isReady: boolean; said: string }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    return { isReady: answer.ok, said: (await answer.text()).trim().slice(0, 1000) };
  } catch {
    return { isReady: false, said: `nothing answers at ${url}` };
  }
}

export function addReadyCommand(program: Command, context: CliContext): void {
  program
    .command('ready')
    .description('ask the server on this machine whether it is ready; exit code 1 if not')
    .action((options: CommonOptions) => ready(context, options));
}
