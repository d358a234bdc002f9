/** `gatepost device simulate`: runs devices by the kit for TypeScript. */

import type { Command } from 'commander';
import { Device } from '../../sdk/typescript/src/index.ts';
import { UsageError } from '../base/operator-error.ts';
import { type Leave, Places } from '../base/queue.ts';
import { printer } from './case-report.ts';
import type { CliContext, CommonOptions } from './context.ts';
import { nextSignal } from './signals.ts';
import {
  baseUrlValue,
  countValue,
  domainHashValue,
  hwidPrefixValue,
  installCodeValue,
  providerCodeValue,
  secondsValue,
} from './values.ts';

interface SimulateOptions extends CommonOptions {
  url: string;
  count: number;
  os: string;
  prefix: string;
  provider?: string;
  domainHash?: string;
  link?: string;
  duration?: number;
}

/** The most devices that connect at a time. */
const STARTING_MAX = 100;
/** The pause between two lines of figures, ms. */
const FIGURES_INTERVAL_MS = 1_000;
/** The most devices whose messages are printed. */
const PRINT_EACH_MAX = 10;

interface Figures {
  open: number;
  refused: number;
  messages: number;
  lastRefusal: string;
}

function registrationOf(options: SimulateOptions) {
  return {
    os: options.os,
    device_name: 'simulated',
    ...(options.provider && { provider_code: options.provider }),
    ...(options.domainHash && { domain_hash: options.domainHash }),
    ...(options.link && { install_code: options.link }),
  };
}

/** A store without data: each simulation registers its HWIDs again. */
const FORGETFUL = { read: () => null, write: () => {} };

function refuseConflicts({ link, provider, domainHash }: SimulateOptions): void {
  const owner = link ?? provider;
  if ((owner === undefined) !== (domainHash === undefined)) {
    throw new UsageError('--domain-hash is required with --link or --provider, and only then');
  }
}

async function simulate(context: CliContext, options: SimulateOptions): Promise<void> {
  refuseConflicts(options);
  const figures: Figures = { open: 0, refused: 0, messages: 0, lastRefusal: '' };
  const output = printer(context, options.json);
  const leaves: Leave[] = [];
  const clients = Array.from({ length: options.count }, (_, n) => {
    const hwid = `${options.prefix}-${n + 1}`;
    let isOpen = false;
    return new Device({
      url: options.url,
      hwid,
      registration: registrationOf(options),
      store: FORGETFUL,
      onMessage({ message }) {
        figures.messages += 1;
        if (options.count <= PRINT_EACH_MAX) {
          output(
            { hwid, message },
            `${hwid} got ${message.id}: ${JSON.stringify(message.payload)}`,
          );
        }
        return undefined;
      },
      onState(state, detail) {
        // The stream stays open.
        if (state === 'ended') return;
        leaves[n]?.();
        if (state === 'open') figures.open += 1;
        if (state === 'closed' && isOpen) figures.open -= 1;
        if (state === 'refused' || state === 'replaced' || (state === 'closed' && !isOpen)) {
          figures.refused += 1;
          figures.lastRefusal = detail;
        }
        isOpen = state === 'open';
      },
    });
  });

  let last = '';
  const report = () => {
    const { lastRefusal, ...counts } = figures;
    const refusal = lastRefusal === '' ? '' : ` (${lastRefusal})`;
    const text = `open ${figures.open}/${options.count}  messages ${figures.messages}  refused ${figures.refused}${refusal}`;
    if (text !== last) output({ ...counts, last_refusal: lastRefusal || null }, text);
    last = text;
  };
  const ticker = setInterval(report, FIGURES_INTERVAL_MS);
  const { duration } = options;
  const isOver = duration === undefined ? [] : [context.sleep(duration * 1000)];
  const stop = new AbortController();
  const ended = Promise.race([nextSignal(), ...isOver]).then(() => stop.abort());
  // One more, because a single party never gets all places.
  const starting = new Places(() => ({ placesMax: STARTING_MAX + 1, waitingMax: 1 }));
  const runs: Promise<unknown>[] = [];
  for (const [n, client] of clients.entries()) {
    const leave = await starting.take('devices', stop.signal);
    if (typeof leave === 'string') break;
    leaves[n] = leave;
    runs.push(client.run());
  }
  await ended;
  clearInterval(ticker);
  for (const client of clients) client.close();
  await Promise.all(runs);
  report();
}

export function addSimulateCommand(device: Command, context: CliContext): void {
  device
    .command('simulate')
    .description('run devices against a server until SIGINT, with live figures')
    .option('--url <url>', 'base URL of the server', baseUrlValue, 'http://127.0.0.1:8080')
    .option('--count <number>', 'the number of devices', countValue, 1)
    .option('--os <name>', 'their operating system', 'android')
    .option('--prefix <text>', 'the start of HWIDs, before -NUMBER', hwidPrefixValue, 'simulated')
    .option('--provider <code>', 'register at this provider, with --domain-hash', providerCodeValue)
    .option('--domain-hash <hash>', 'SHA-256 of a bound domain', domainHashValue)
    .option(
      '--link <code>',
      'register through this limited link, with --domain-hash',
      installCodeValue,
    )
    .option('--duration <seconds>', 'stop after this time', secondsValue)
    .action((options: SimulateOptions) => simulate(context, options));
}
