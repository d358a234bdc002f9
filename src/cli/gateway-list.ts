/** `gatepost gateway list`: which gateways are set up, what waits for them, and how they are. */

import type { Command } from 'commander';
import type { Config } from '../config/settings/index.ts';
import type { Destination, OutboxTotals } from '../core/port/outbox.ts';
import { PUSH_GATEWAYS, type PushGateway } from '../core/port/registration.ts';
import { type CliContext, type CommonOptions, flagsOf, print, withCore } from './context.ts';
import { table } from './table.ts';
import { showTime } from './values.ts';

/** Push services with a problem that are shown. */
const SERVICES_MAX = 20;

const time = (epochMs: number | null) => (epochMs === null ? null : showTime(epochMs));

async function list(context: CliContext, options: CommonOptions): Promise<void> {
  const { config } = context.loadConfig(flagsOf(options));
  const { totals, destinations } = await withCore(context, options, async ({ store }) => ({
    totals: await store.readOutboxTotals(),
    destinations: await store.listDestinations(PUSH_GATEWAYS, 1_000),
  }));
  const nowMs = context.nowMs();
  const gateways = PUSH_GATEWAYS.map((gateway) => {
    const own = destinations.filter(({ kind }) => kind === gateway);
    const ofKind = totals.find(({ kind }) => kind === gateway);
    return view(gateway, isSetUp(config, gateway), ofKind, own, nowMs);
  });
  const services = gateways.flatMap(({ push_services }) => push_services ?? []);
  const text = [
    table(gateways, {
      gateway: 'gateway',
      state: 'state',
      waiting: 'waiting',
      'oldest from': ({ oldest_queued_at }) => oldest_queued_at ?? '-',
      problem: ({ problem }) => problem ?? '-',
    }),
    ...(services.length === 0
      ? []
      : [
          table(services, {
            'push service': 'origin',
            state: 'state',
            waiting: 'waiting',
            problem: ({ problem }) => problem ?? '-',
          }),
        ]),
  ].join('\n\n');
  print(context, options, gateways, text);
}

function isSetUp(config: Config, gateway: PushGateway): boolean {
  const { fcmServiceAccount, apnsKeyFile, webpushSubject } = config;
  return { fcm: fcmServiceAccount, apns: apnsKeyFile, webpush: webpushSubject }[gateway] !== '';
}

/** A gateway as it is shown; of Web Push also the services that have a problem. */
function view(
  gateway: PushGateway,
  isOn: boolean,
  totals: OutboxTotals | undefined,
  destinations: readonly Destination[],
  nowMs: number,
) {
  const [only] = gateway === 'webpush' ? [] : destinations;
  const ill = destinations.filter((destination) => stateOf(destination, nowMs) !== 'ready');
  const services =
    gateway === 'webpush'
      ? ill.slice(0, SERVICES_MAX).map((destination) => ({
          origin: destination.origin,
          state: stateOf(destination, nowMs),
          waiting: destination.waitingCount,
          problem: destination.problem,
        }))
      : undefined;
  const some = ill.length > 0 ? `${ill.length} of ${totals?.destinationCount ?? 0} fail` : 'ready';
  const state = only === undefined ? some : stateOf(only, nowMs);
  return {
    gateway,
    state: isOn ? state : 'not set up',
    waiting: totals?.waitingCount ?? 0,
    oldest_queued_at: time(totals?.oldestQueuedAtMs ?? null),
    stopped_at: time(only?.stoppedAtMs ?? null),
    retry_at: only && only.retryAtMs > nowMs ? showTime(only.retryAtMs) : null,
    // What was wrong is over as soon as it is tried again.
    problem: state === 'ready' ? null : (only?.problem ?? null),
    push_services: services,
  };
}

function stateOf({ stoppedAtMs, retryAtMs, failingSinceMs }: Destination, nowMs: number): string {
  if (stoppedAtMs !== null) return 'stopped';
  if (retryAtMs > nowMs) return 'paused';
  return failingSinceMs === null ? 'ready' : 'failing';
}

/** Adds the command to its group. */
export function addGatewayListCommand(group: Command, context: CliContext): void {
  group
    .command('list')
    .description('list the gateways: which are set up, what waits for them, what is wrong')
    .action((options: CommonOptions) => list(context, options));
}
