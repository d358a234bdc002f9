/** `gatepost gateway test`: sends a real message to a device and explains the answer. */

import { Argument, type Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import { visible } from '../base/visible.ts';
import type { AttemptVerdict } from '../core/outbox/carrier.ts';
import { sendTest } from '../core/outbox/gateway-test.ts';
import { PUSH_GATEWAYS, type PushAddress, type PushGateway } from '../core/port/registration.ts';
import { type CliContext, type CommonOptions, print, settingsFor, withCore } from './context.ts';
import { refusal } from './refusal.ts';
import { hwidValue, showTime } from './values.ts';

interface TestOptions extends CommonOptions {
  hwid: string;
}

const NAMES: Readonly<Record<PushGateway, string>> = {
  fcm: 'FCM',
  apns: 'APNs',
  webpush: 'The push service',
};

async function test(context: CliContext, gateway: PushGateway, options: TestOptions) {
  const { hwid } = options;
  const { found, device } = await withCore(context, options, async ({ store }) => ({
    found: await store.listPushAddresses(hwid),
    device: await store.findDevice(hwid),
  }));
  if (found === null) throw refusal('device_not_found', hwid);
  const address = found.find(({ push }) => push.gateway === gateway)?.push;
  if (address === undefined) {
    const dropped = device?.tokens.flatMap((token) => token.dropped ?? []) ?? [];
    throw new OperatorError(withoutAddress(hwid, gateway, found, dropped));
  }
  const config = settingsFor(context, options);
  const send = await context.openGateway(config, gateway);
  try {
    const verdict = await sendTest(send, address, context.nowMs());
    if (verdict.verdict !== 'accepted') {
      throw new OperatorError(explained(gateway, verdict), 'test_failed');
    }
    const text = `${NAMES[gateway]} accepted the message.\n${IF_NOTHING_SHOWS}`;
    print(context, options, { gateway, hwid, verdict: 'accepted' }, text);
  } finally {
    send.close();
  }
}

const IF_NOTHING_SHOWS =
  'If the device shows nothing within a minute, check that it is online and that its user allows the app to show notifications.';

function withoutAddress(
  hwid: string,
  gateway: PushGateway,
  found: readonly { push: PushAddress }[],
  dropped: readonly { atMs: number; why: string }[],
): string {
  const others = [...new Set(found.map(({ push }) => push.gateway))];
  const has = `the app registered ${others.length === 0 ? 'none' : `at ${others.join(', ')}`}`;
  const last = dropped.toSorted((a, b) => b.atMs - a.atMs)[0];
  const was =
    last === undefined ? '' : `; one was dropped at ${showTime(last.atMs)}: ${visible(last.why)}`;
  return `device '${hwid}' has no address at ${gateway}: ${has}${was}`;
}

/** Returns the meaning of an answer for the operator. */
function explained(
  gateway: PushGateway,
  given: Exclude<AttemptVerdict, { verdict: 'accepted' }>,
): string {
  const { problem } = given;
  switch (given.verdict) {
    case 'credentials':
      return `${gateway} does not work, and all its pushes wait: ${problem}. Fix it, then run 'systemctl reload gatepost'`;
    case 'dead':
      return `the address of this device is dead and will be dropped with the next push: ${problem}. The app gets another one when it registers again`;
    case 'failed':
      return `the gateway rejects this message: ${problem}`;
    case 'wait':
    case 'busy':
    case 'retry':
      return `not accepted for now: ${problem}. A push would be retried`;
  }
}

export function addGatewayTestCommand(group: Command, context: CliContext): void {
  group
    .command('test')
    .description('send a real message to a device and explain the answer of its gateway')
    .addArgument(new Argument('<gateway>', 'its gateway').choices(PUSH_GATEWAYS))
    .requiredOption('--hwid <hwid>', 'a device whose app registered a push token', hwidValue)
    .action((gateway: PushGateway, options: TestOptions) => test(context, gateway, options));
}
