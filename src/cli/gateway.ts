/** `gatepost gateway …`: the gateways to devices, with their state and their queues. */

import type { Command } from 'commander';
import type { Config } from '../config/settings/index.ts';
import type { Destination, OutboxTotals } from '../core/port/outbox.ts';
import { PUSH_GATEWAYS, type PushGateway } from '../core/port/registration.ts';
import { type CliContext, type CommonOptions, flagsOf, print, withCore } from './context.ts';
import { addGatewayTestCommand } from './gateway-test.ts';
import { table } from './table.ts';
import { showTime, showTimeOrNull } from './values.ts';

/** The most push services with a problem that are shown. */
const SERVICES_MAX = 20;

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
  const problem = (row: { problem: string | null }) => row.problem ?? '-';
  const parts = [
    table(gateways, {
      ...{ gateway: 'gateway', state: 'state', waiting: 'waiting' },
      'oldest from': ({ oldest_queued_at }) => oldest_queued_at ?? '-',
      problem,
    }),
  ];
  if (services.length > 0) {
    const columns = { 'push service': 'origin', state: 'state', waiting: 'waiting' } as const;
    parts.push(table(services, { ...columns, problem }));
  }
  print(context, options, gateways, parts.join('\n\n'));
}

/** Returns the gateways of the settings, without opening them. */
export const gatewaysIn = (config: Config): PushGateway[] =>
  PUSH_GATEWAYS.filter((gateway) => isSetUp(config, gateway));

function isSetUp(config: Config, gateway: PushGateway): boolean {
  const { fcmServiceAccount, apnsKeyFile, webpushSubject } = config;
  return { fcm: fcmServiceAccount, apns: apnsKeyFile, webpush: webpushSubject }[gateway] !== '';
}

/** Returns a gateway as JSON; for Web Push also the services with a problem. */
function view(
  gateway: PushGateway,
  isOn: boolean,
  totals: OutboxTotals | undefined,
  destinations: readonly Destination[],
  nowMs: number,
) {
  const [only] = gateway === 'webpush' ? [] : destinations;
  const failing = destinations.filter((destination) => stateOf(destination, nowMs) !== 'ready');
  const services =
    gateway === 'webpush'
      ? failing.slice(0, SERVICES_MAX).map((destination) => ({
          origin: destination.origin,
          state: stateOf(destination, nowMs),
          waiting: destination.waitingCount,
          problem: destination.problem,
        }))
      : undefined;
  const some =
    failing.length > 0 ? `${failing.length} of ${totals?.destinationCount ?? 0} fail` : 'ready';
  const state = only === undefined ? some : stateOf(only, nowMs);
  return {
    gateway,
    state: isOn ? state : 'not set up',
    waiting: totals?.waitingCount ?? 0,
    oldest_queued_at: showTimeOrNull(totals?.oldestQueuedAtMs ?? null),
    stopped_at: showTimeOrNull(only?.stoppedAtMs ?? null),
    retry_at: only && only.retryAtMs > nowMs ? showTime(only.retryAtMs) : null,
    // A paused gateway keeps its problem until the retry.
    problem: state === 'ready' ? null : (only?.problem ?? null),
    push_services: services,
  };
}

function stateOf({ stoppedAtMs, retryAtMs, failingSinceMs }: Destination, nowMs: number): string {
  if (stoppedAtMs !== null) return 'stopped';
  if (retryAtMs > nowMs) return 'paused';
  return failingSinceMs === null ? 'ready' : 'failing';
}

export function addGatewayCommands(program: Command, context: CliContext): void {
  const gateway = program.command('gateway').description('show and test the gateways to devices');
  gateway
    .command('list')
    .description('list the gateways with their state, their queues and their problems')
    .action((options: CommonOptions) => list(context, options));
  addGatewayTestCommand(gateway, context);
}
