/** `gatepost device simulate`: devices that behave as the reference client does. */

import type { Command } from 'commander';
import { DeviceClient, type DeviceMessage } from '../client/device-client.ts';
import { UsageError } from '../operator-error.ts';
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

/** The most devices that connect at a time: not all of them meet the server at once. */
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

function registrationOf(options: SimulateOptions, hwid: string) {
  return {
    hwid,
    os: options.os,
    device_name: 'simulated',
    ...(options.provider && { provider_code: options.provider }),
    ...(options.domainHash && { domain_hash: options.domainHash }),
    ...(options.link && { install_code: options.link }),
  };
}

/** A keeper for the time of the simulation, which registers its HWIDs anew each time. */
function memoryTokens() {
  let token: string | null = null;
  return {
    load: async () => token,
    save: async (given: string | null) => {
      token = given;
    },
  };
}

function refuseHalves({ link, provider, domainHash }: SimulateOptions): void {
  const owner = link ?? provider;
  if ((owner === undefined) !== (domainHash === undefined)) {
    throw new UsageError('--link or --provider goes together with --domain-hash');
  }
}

async function simulate(context: CliContext, options: SimulateOptions): Promise<void> {
  refuseHalves(options);
  const figures: Figures = { open: 0, refused: 0, messages: 0, lastRefusal: '' };
  const say = (event: Record<string, unknown>, text: string) =>
    context.stdout(`${options.json ? JSON.stringify(event) : text}\n`);
  let starting = 0;
  const waiting: (() => void)[] = [];
  const started = () => {
    starting -= 1;
    waiting.shift()?.();
  };

  const clients = Array.from({ length: options.count }, (_, n) => {
    const hwid = `${options.prefix}-${n + 1}`;
    let isOpen = false;
    let hasStarted = false;
    const settle = () => {
      if (!hasStarted) started();
      hasStarted = true;
    };
    return new DeviceClient({
      url: options.url,
      registration: registrationOf(options, hwid),
      tokens: memoryTokens(),
      onMessage(message) {
        figures.messages += 1;
        if (options.count <= PRINT_EACH_MAX) {
          say({ hwid, message }, `${hwid} got ${message.id}: ${JSON.stringify(message.payload)}`);
        }
        return stateFor(message);
      },
      onState(state, detail) {
        settle();
        if (state === 'open') figures.open += 1;
        if (state === 'closed' && isOpen) figures.open -= 1;
        if (state === 'refused') {
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
    if (text !== last) say({ ...counts, last_refusal: lastRefusal || null }, text);
    last = text;
  };
  const ticker = setInterval(report, FIGURES_INTERVAL_MS);
  const { duration } = options;
  const isOver = duration === undefined ? [] : [context.sleep(duration * 1000)];
  const ended = Promise.race([nextSignal(), ...isOver]);
  let isEnded = false;
  void ended.then(() => {
    isEnded = true;
    for (const go of waiting.splice(0)) go();
  });

  const runs: Promise<unknown>[] = [];
  for (const client of clients) {
    if (starting >= STARTING_MAX) await new Promise<void>((go) => waiting.push(go));
    if (isEnded) break;
    starting += 1;
    runs.push(client.run());
  }
  await ended;
  clearInterval(ticker);
  for (const client of clients) client.stop();
  await Promise.all(runs);
  report();
}

function stateFor(message: DeviceMessage): 'received' | 'executed' {
  return message.notification_type === 20 ? 'executed' : 'received';
}

export function addSimulateCommand(device: Command, context: CliContext): void {
  device
    .command('simulate')
    .description('run devices against a server until SIGINT, with live figures')
    .option('--url <url>', 'base address of the server', baseUrlValue, 'http://127.0.0.1:8080')
    .option('--count <number>', 'how many devices', countValue, 1)
    .option('--os <name>', 'their operating system', 'android')
    .option(
      '--prefix <text>',
      'their HWIDs are this, a hyphen and a number',
      hwidPrefixValue,
      'simulated',
    )
    .option(
      '--provider <code>',
      'link them to this provider, with --domain-hash',
      providerCodeValue,
    )
    .option('--domain-hash <hash>', 'SHA-256 of a bound domain', domainHashValue)
    .option('--link <code>', 'put them on this limited link, with --domain-hash', installCodeValue)
    .option('--duration <seconds>', 'stop by itself', secondsValue)
    .action((options: SimulateOptions) => simulate(context, options));
}
