/** A browser that gets news of a link, as its push service has it. */

import { createECDH, type ECDH, generateKeyPairSync, randomBytes } from 'node:crypto';
import { decrypt } from 'http_ece';
import { renderPush } from '../../src/core/message/push.ts';
import { VapidKey } from '../../src/gateway/vapid.ts';
import { WebPush } from '../../src/gateway/webpush.ts';
import type { OutgoingCall } from '../../src/outgoing/call.ts';
import type { TestApp } from './app.ts';

const pem = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const read = VapidKey.read(pem);
if (typeof read === 'string') throw new Error(read);
export const VAPID = read;

export interface Subscriber {
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } };
  keys: ECDH;
  auth: Buffer;
}

/** Makes a subscription; Chromium can make none offline. */
export function subscriber(): Subscriber {
  const keys = createECDH('prime256v1');
  keys.generateKeys();
  const auth = randomBytes(16);
  const endpoint = `https://push.example.org/${randomBytes(12).toString('base64url')}`;
  return {
    keys,
    auth,
    subscription: {
      endpoint,
      keys: {
        p256dh: keys.getPublicKey().toString('base64url'),
        auth: auth.toString('base64url'),
      },
    },
  };
}

/** Sends a message to a browser as the gateway does; returns what the browser decrypts. */
export async function pushed(app: TestApp, hwid: string, to: Subscriber, messageId: number) {
  const { store } = app.core;
  const [address] = (await store.listPushAddresses(hwid)) ?? [];
  const found = await store.findDistribution(messageId, 1);
  if (address === undefined || found === null) throw new Error('there is nothing to push');
  let sent: OutgoingCall | null = null;
  const outgoing = {
    send: async (request: OutgoingCall) => {
      sent = request;
      return { status: 201, headers: new Headers(), body: '' } as never;
    },
  };
  const gateway = new WebPush(VAPID, 'mailto:a@example.org', { outgoing, clock: app.clock });
  const { distribution } = found;
  const message = { ...distribution, providerId: 0, payload: JSON.parse(distribution.payload) };
  const content = renderPush(message, address.locale, {
    gatewayCarryMessages: false,
    outputOffsetMinutes: 180,
  });
  await gateway.send(address.push, content, new AbortController().signal);
  const { body } = sent as unknown as { body: Buffer };
  const plain = decrypt(Buffer.from(body), {
    version: 'aes128gcm',
    privateKey: to.keys,
    authSecret: to.auth,
  });
  return plain.toString('utf8');
}

/** Devices of a provider that opened a message. */
export async function openedCount(app: TestApp, providerCode: string, id: number) {
  const { store } = app.core;
  const provider = await store.findProvider(providerCode);
  const of = { providerId: provider?.id ?? 0, distributionId: id };
  const counted = await store.countReceipts(of, null, 100);
  return typeof counted === 'string' ? 0 : counted.totals.opened;
}
