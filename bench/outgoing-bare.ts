/**
 * The baseline of bench/outgoing.ts, a process of its own: pushes through FCM or APNs by a bare
 * loop of `fetch`, with nothing on disk. Whatever fails goes to the end of the list at once.
 *
 *   bun bench/outgoing-bare.ts '{"gateway":"fcm","count":1000,…}'
 */

import { readFileSync } from 'node:fs';
import { importPKCS8, SignJWT } from 'jose';
import { pushToken } from '../test/support/push-devices.ts';

/** The argument, as JSON. */
export interface BareOrder {
  gateway: 'fcm' | 'apns';
  count: number;
  concurrency: number;
  origin: string;
  project: string;
  serviceAccountFile: string;
  apns: { teamId: string; keyId: string; topic: string; keyFile: string };
}

/** The one line that it prints, as JSON. */
export interface BareResult {
  seconds: number;
  attempts: number;
  peakMib: number;
  cpuSeconds: number;
}

const order = JSON.parse(process.argv[2] ?? '') as BareOrder;
const TEXT = 'One for everybody';
/** The bodies' id: the same in each, as with a distribution. */
const ID = '1';

function post(url: string, headers: Record<string, string>, body: string): Promise<Response> {
  const signal = AbortSignal.timeout(10_000);
  const own = { protocol: 'http2' } as RequestInit;
  return fetch(url, { method: 'POST', headers, body, signal, ...own });
}

async function accessToken(): Promise<string> {
  const account = JSON.parse(readFileSync(order.serviceAccountFile, 'utf8'));
  const scope = ['https:', '', 'www.googleapis.com', 'auth', 'firebase.messaging'].join('/');
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(account.client_email)
    .setAudience(account.token_uri)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(await importPKCS8(account.private_key, 'RS256'));
  const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
  const body = new URLSearchParams({ grant_type: grant, assertion }).toString();
  for (;;) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const reply = await post(account.token_uri, headers, body).catch(() => null);
    const answer = (await reply?.json().catch(() => null)) as { access_token?: string } | null;
    if (answer?.access_token !== undefined) return answer.access_token;
  }
}

async function fcmSender() {
  const url = `${order.origin}/v1/projects/${order.project}/messages:send`;
  const authorization = `Bearer ${await accessToken()}`;
  const headers = { authorization, 'content-type': 'application/json' };
  return (token: string) => {
    const notification = { title: 'Bench', body: TEXT };
    const android = { collapse_key: ID, priority: 'NORMAL', ttl: '600000s' };
    const message = { token, notification, data: { id: ID, kind: 'notification' }, android };
    return post(url, headers, JSON.stringify({ message }));
  };
}

async function apnsSender() {
  const { teamId, keyId, topic, keyFile } = order.apns;
  const bearer = await new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: keyId })
    .setIssuer(teamId)
    .setIssuedAt()
    .sign(await importPKCS8(readFileSync(keyFile, 'utf8'), 'ES256'));
  const headers = {
    authorization: `bearer ${bearer}`,
    'apns-topic': topic,
    'apns-push-type': 'alert',
    'apns-priority': '5',
    'apns-collapse-id': ID,
    'apns-id': '00000000-0000-4000-8000-000000000001',
  };
  const aps = { alert: { title: 'Bench', body: TEXT } };
  const body = JSON.stringify({ aps, id: ID, kind: 'notification' });
  return (token: string) => post(`${order.origin}/3/device/${token}`, headers, body);
}

const send = await (order.gateway === 'fcm' ? fcmSender() : apnsSender());
const left = Array.from({ length: order.count }, (_, n) => n).reverse();
let attempts = 0;
let underWay = 0;

async function work(): Promise<void> {
  while (left.length + underWay > 0) {
    const n = left.pop();
    if (n === undefined) {
      // Another loop may put a failed one back.
      await Bun.sleep(1);
      continue;
    }
    underWay += 1;
    attempts += 1;
    const isDone = await send(pushToken(order.gateway, n))
      .then(async (reply) => {
        await reply.text();
        return reply.ok;
      })
      .catch(() => false);
    underWay -= 1;
    if (!isDone) left.unshift(n);
  }
}

const startMs = performance.now();
await Promise.all(Array.from({ length: order.concurrency }, work));
const seconds = (performance.now() - startMs) / 1000;
const kib = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
const { user, system } = process.cpuUsage();
const result: BareResult = {
  seconds,
  attempts,
  peakMib: Number(kib) / 1024,
  cpuSeconds: (user + system) / 1e6,
};
console.log(JSON.stringify(result));
process.exit(0);
