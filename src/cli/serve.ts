/** `gatepost serve`: runs the server. */

import type { Command } from 'commander';
import type { App } from '../app.ts';
import { OperatorError } from '../base/operator-error.ts';
import type { LoadedConfig } from '../config/load.ts';
import { type CliContext, type CommonOptions, flagsOf } from './context.ts';
import { nextSignal, untilInterrupted } from './signals.ts';
import { welcome } from './welcome.ts';

interface ServeOptions extends CommonOptions {
  host?: string;
  port?: string;
  firstProvider?: boolean;
}

/** The longest stop, after `server.drain_seconds`, ms; the rest is then aborted. */
const STOP_MAX_MS = 8_000;

async function serve(context: CliContext, options: ServeOptions): Promise<void> {
  const flags = { ...flagsOf(options), host: options.host, port: options.port };
  let isReloadPending = false;
  let onHangUp = () => {
    isReloadPending = true;
  };
  // From the beginning: without a handler the signal would end the process, perhaps in a migration.
  process.on('SIGHUP', () => onHangUp());
  const loaded = context.loadServerConfig(flags);
  const manager = context.serviceManager();
  manager.starting();
  const stopping = new AbortController();
  const starting = context.startApp(loaded, stopping.signal);
  // Not before: until a migration is done, which it is by now, a signal ends the process.
  const signal = nextSignal().then(() => stopping.abort());
  const app = await unlessStopped(starting, stopping.signal);
  if (app === null) {
    manager.stopping();
    return;
  }
  const listening = `listening on ${app.url}`;
  onHangUp = () => {
    manager.reloading();
    reload(app, () => context.loadServerConfig(flags));
    manager.ready(listening);
  };
  manager.ready(listening);
  if (isReloadPending) onHangUp();
  if (options.json) {
    const { url, monitorUrl } = app;
    const started = { message: `listening on ${url}`, url, monitor_url: monitorUrl };
    context.stdout(`${JSON.stringify(started)}\n`);
  } else {
    const monitor = app.monitorUrl ? `probes and metrics are at ${app.monitorUrl}\n` : '';
    // In one write: a reader of the first line then has the second.
    context.stdout(`gatepost is ${listening}\n${monitor}`);
  }
  if (options.firstProvider) {
    const peopleUrl = await context.urlForPeople(loaded.config, app.url);
    context.stdout(await welcome(app, peopleUrl, context.operator, context.nowMs()));
  }
  await signal;
  manager.stopping();
  // A second signal ends the wait.
  await untilInterrupted(app.drain);
  await Promise.race([app.close(), context.sleep(STOP_MAX_MS)]);
}

/** Loads the configuration again. An invalid one changes nothing. */
function reload(app: App, load: () => LoadedConfig): void {
  try {
    const { live, waiting } = app.reload(load());
    app.log.info('config_reloaded', { changed: live.join(', ') });
    if (waiting.length > 0) app.log.warn('config_needs_restart', { changed: waiting.join(', ') });
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    app.log.error('config_not_reloaded', { reason: error.message });
  }
}

/** Returns the app; null: a signal came while it waited for a certificate or the database. */
async function unlessStopped(starting: Promise<App>, signal: AbortSignal): Promise<App | null> {
  try {
    return await starting;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

export function addServeCommand(program: Command, context: CliContext): void {
  program
    .command('serve')
    .description('run the server until SIGTERM or SIGINT')
    .option('--host <address>', 'address to listen on (GATEPOST_HOST, default 127.0.0.1)')
    .option('--port <number>', 'port to listen on, 0 picks one (GATEPOST_PORT, default 8080)')
    .option('--first-provider', 'create a provider if there is none, and print example calls')
    .action((options: ServeOptions) => serve(context, options));
}
