/** `gatepost gateway …`: the gateways to devices, with their state and their queues. */

import type { Command } from 'commander';
import type { Config } from '../config/settings/index.ts';
import { readGateways } from '../core/outbox/state.ts';
import { PUSH_GATEWAYS, type PushGateway } from '../core/port/registration.ts';
import { type CliContext, type CommonOptions, print, settingsFor, withCore } from './context.ts';
import { addGatewayTestCommand } from './gateway-test.ts';
import { table } from './table.ts';
import { showTimeOrNull } from './values.ts';

type GatewayState = Awaited<ReturnType<typeof readGateways>>[number];

async function list(context: CliContext, options: CommonOptions): Promise<void> {
  const config = settingsFor(context, options);
  const isOn = (gateway: PushGateway) => isSetUp(config, gateway);
  const states = await withCore(context, options, (core) =>
    readGateways(core, isOn, context.nowMs()),
  );
  const gateways = states.map(view);
  const services = gateways.flatMap(({ push_services }) => push_services ?? []);
  const problem = (row: { problem: string | null }) => row.problem ?? '-';
  const parts = [
    table(gateways, {
      gateway: 'gateway',
      state: 'state',
      waiting: 'waiting',
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
function view(of: GatewayState) {
  const { failingCount, oldestAtMs, retryAtMs, serviceCount, services, stoppedAtMs } = of;
  const some = failingCount > 0 ? `${failingCount} of ${serviceCount} fail` : 'ready';
  return {
    gateway: of.gateway,
    state: of.isSetUp ? (of.state ?? some) : 'not set up',
    waiting: of.waitingCount,
    oldest_queued_at: showTimeOrNull(oldestAtMs),
    stopped_at: showTimeOrNull(stoppedAtMs),
    retry_at: showTimeOrNull(retryAtMs),
    problem: of.problem,
    push_services: services?.map(({ origin, problem, state, waitingCount: waiting }) => ({
      origin,
      state,
      waiting,
      problem,
    })),
  };
}

export function addGatewayCommands(program: Command, context: CliContext): void {
  const gateway = program.command('gateway').description('show and test the gateways to devices');
  gateway
    .command('list')
    .description('list the gateways with their state, their queues and their problems')
    .action((options: CommonOptions) => list(context, options));
  addGatewayTestCommand(gateway, context);
}
