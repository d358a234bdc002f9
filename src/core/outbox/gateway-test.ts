/** Sends a real message to one device, to test a gateway. */

import type { Core } from '../core.ts';
import { isRefused, Refused } from '../outcome.ts';
import type { PushContent } from '../port/outbox.ts';
import type { PushAddress, PushGateway } from '../port/registration.ts';
import type { AttemptVerdict } from './carrier.ts';

/** Time until the message expires, ms. */
const TEST_LIFE_MS = 600_000;
/** The second attempt has a new signature or access token. */
const ATTEMPTS_MAX = 2;

/** Sends once. */
export type SendOnce = (address: PushAddress, content: PushContent) => Promise<AttemptVerdict>;

/** Returns the message; no distribution has the id 0, so the inbox stays empty. */
function testContent(nowMs: number): PushContent {
  return {
    id: 0,
    kind: 'notification',
    title: 'Gatepost',
    body: 'This is a test: pushes arrive.',
    link: null,
    image: null,
    isUrgent: true,
    expiresAtMs: nowMs + TEST_LIFE_MS,
    inboxMessage: null,
  };
}

/** Sends the message, again at once if the gateway asks for that. */
export async function sendTest(
  send: SendOnce,
  address: PushAddress,
  nowMs: number,
): Promise<AttemptVerdict> {
  let verdict = await send(address, testContent(nowMs));
  for (let n = 1; n < ATTEMPTS_MAX && verdict.verdict === 'retry' && verdict.afterMs === 0; n++) {
    verdict = await send(address, testContent(nowMs));
  }
  return verdict;
}

/** Finds the address of a device at a gateway. */
async function addressOf(
  { store }: Core,
  gateway: PushGateway,
  hwid: string,
): Promise<PushAddress | Refused<'device_not_found' | 'no_push_address'>> {
  const found = await store.listPushAddresses(hwid);
  if (found === null) return new Refused('device_not_found');
  const address = found.find(({ push }) => push.gateway === gateway)?.push;
  return address ?? new Refused('no_push_address');
}

/** Tests a gateway of this process; `send` null: it is not configured. */
export async function testGateway(
  core: Core,
  send: SendOnce | null,
  { gateway, hwid }: { gateway: PushGateway; hwid: string },
  nowMs: number,
) {
  if (send === null) return new Refused('gateway_not_set_up');
  const address = await addressOf(core, gateway, hwid);
  return isRefused(address) ? address : sendTest(send, address, nowMs);
}
