/** `gatepost ready`: the health check for containers without other programs. */

import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { hereInUrl, IDENTITY_HEADER, identityOf, notedMonitor } from '../base/whereabouts.ts';
import { type CliContext, type CommonOptions, print, settingsFor } from './context.ts';

/** The longest wait for the monitor, ms. */
const ANSWER_MAX_MS = 3_000;

async function ready(context: CliContext, options: CommonOptions): Promise<void> {
  const { dataDir, monitorHost, monitorPort } = settingsFor(context, options);
  const identity = identityOf(dataDir);
  if (identity === null) {
    throw new OperatorError(`not ready: ${dataDir} does not exist`, 'database_missing');
  }
  // First the address that the server of this directory noted.
  const urls = new Set([notedMonitor(dataDir), addressOf(monitorHost, monitorPort)]);
  urls.delete(null);
  if (urls.size === 0) {
    throw new OperatorError('the monitor is off (monitor.port), so readiness is unknown');
  }
  const refusals: string[] = [];
  for (const url of urls) {
    const answer = await ask(`${url}/readyz`, identity);
    if (answer.isOurs && answer.isReady) {
      print(context, options, { ready: true }, 'ready');
      return;
    }
    if (answer.isOurs) throw new OperatorError(`not ready: ${answer.sentence}`);
    refusals.push(answer.sentence);
  }
  throw new OperatorError(`not ready: no server runs on ${dataDir}: ${refusals.join('; ')}`);
}

/** Returns the configured address; null: the monitor is off, or its port is chosen at the start. */
function addressOf(monitorHost: string, port: number | null): string | null {
  if (port === null || port === 0) return null;
  return `http://${hereInUrl(monitorHost)}:${port}`;
}

interface ReadyAnswer {
  /** The answer comes from a server on this data directory. */
  isOurs: boolean;
  isReady: boolean;
  sentence: string;
}

async function ask(url: string, identity: string): Promise<ReadyAnswer> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    if (answer.headers.get(IDENTITY_HEADER) !== identity) {
      const sentence = `another server answers at ${url}, or an older version`;
      return { isOurs: false, isReady: false, sentence };
    }
    const sentence = (await answer.text()).trim().slice(0, 1000);
    return { isOurs: true, isReady: answer.ok, sentence };
  } catch {
    return { isOurs: false, isReady: false, sentence: `no answer from ${url}` };
  }
}

export function addReadyCommand(program: Command, context: CliContext): void {
  program
    .command('ready')
    .description('report whether the server of the data directory is ready; exit code 1 if not')
    .action((options: CommonOptions) => ready(context, options));
}
