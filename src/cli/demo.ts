/**
 * `gatepost demo`: an appliance with simulated traffic in a temporary directory, removed at the
 * end.
 */

import type { Command } from 'commander';
import { UsageError } from '../base/operator-error.ts';
import { makeOperatorEntry } from '../core/account/operator.ts';
import { actingAs } from '../core/core.ts';
import { isRefused } from '../core/outcome.ts';
import { Life } from '../demo/life.ts';
import { openPlace } from '../demo/place.ts';
import { makeWorld } from '../demo/world.ts';
import { type CliContext, type CommonOptions, print } from './context.ts';
import { untilInterrupted } from './signals.ts';

interface DemoOptions extends CommonOptions {
  port: string;
}

type Flags = Parameters<CliContext['loadOwnConfig']>[0];

/** The pause between two simulated events, ms. */
const PAUSE_MS = 400;

async function demo(context: CliContext, options: DemoOptions): Promise<void> {
  const { config, data, port } = options;
  if (data !== undefined || config !== undefined) {
    throw new UsageError('a demonstration takes neither --data nor --config: it makes its own');
  }
  const place = openPlace();
  try {
    const flags = { dataDir: place.folder, configFile: place.configFile, host: '127.0.0.1', port };
    await untilInterrupted((signal) => live(context, options, flags, signal));
  } finally {
    place.remove();
  }
}

/** Serves, and makes events until the signal. */
async function live(
  context: CliContext,
  options: DemoOptions,
  flags: Flags,
  signal: AbortSignal,
): Promise<void> {
  const loaded = context.loadOwnConfig(flags);
  const seeded = await context.openCore(loaded.config, true);
  const providers = await makeWorld(actingAs(seeded, context.operator), context.nowMs()).finally(
    () => seeded.store.close(),
  );
  const app = await context.startApp(loaded, signal);
  try {
    const core = actingAs(app.core, context.operator);
    const life = new Life(app.url, providers, context.nowMs);
    await life.begin();
    const entry = await makeOperatorEntry(core, 'demo', context.nowMs());
    if (isRefused(entry)) throw new Error(entry.says);
    const link = `${app.url}/console#entry=${entry.secret}`;
    const keys = providers.map(({ authKey, code }) => `  ${code}  ${authKey}`).join('\n');
    const shown = providers.map(({ authKey, code }) => ({
      provider_code: code,
      auth_key: authKey,
    }));
    const text = `gatepost is listening on ${app.url}

This is a demonstration: nothing of it is real, nothing leaves this machine, and all of it goes
when you stop it (Ctrl-C). Open the console, once and within ten minutes:

${link}

Two providers, with the keys by which they sign in:

${keys}`;
    print(context, options, { url: app.url, link, providers: shown }, text);
    while (!signal.aborted) {
      await life.step();
      await Promise.race([context.sleep(PAUSE_MS), aborted(signal)]);
    }
  } finally {
    await app.close();
  }
}

/** Settles when the signal aborts. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export function addDemoCommand(program: Command, context: CliContext): void {
  program
    .command('demo')
    .description('serve simulated providers from a temporary directory until SIGINT')
    .option('--port <number>', 'port to listen on, 0 picks one', '8080')
    .action((options: DemoOptions) => demo(context, options));
}
