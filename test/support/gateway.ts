/** Gateways for tests: on scripted answers, or on the strict servers. */

import { generateKeyPairSync } from 'node:crypto';
import type { Clock } from '../../src/base/clock.ts';
import { readNetwork } from '../../src/core/outbox/address.ts';
import type { PushContent } from '../../src/core/port/outbox.ts';
import type { GatewaySettings } from '../../src/gateway/gateways.ts';
import type { OutgoingAnswer, OutgoingCall, OutgoingFailure } from '../../src/outgoing/call.ts';
import { Outgoing } from '../../src/outgoing/outgoing.ts';
import type { StrictServers } from '../servers/strict-servers.ts';
import { NO_PROXIES } from './outgoing-proxy.ts';

export const NEVER = new AbortController().signal;

/** Nothing is set up. */
export const NO_GATEWAY: GatewaySettings & { databaseUrl: null } = {
  dataDir: '',
  databaseUrl: null,
  fcmServiceAccount: '',
  fcmEndpoint: 'https://fcm.example',
  fcmChannelId: '',
  apnsKeyFile: '',
  apnsKeyId: '',
  apnsTeamId: '',
  apnsTopic: '',
  apnsSandbox: false,
  apnsEndpoint: '',
  webpushSubject: '',
  webpushKeyFile: '',
};

/** All three gateways, at the strict servers; the VAPID key is in `dataDir`. */
export function settingsFor({ fcm, apns, origin }: StrictServers, dataDir: string) {
  return {
    ...NO_GATEWAY,
    dataDir,
    fcmServiceAccount: fcm.serviceAccountFile,
    fcmEndpoint: origin('fcm'),
    apnsKeyFile: apns.keyFile,
    apnsKeyId: apns.keyId,
    apnsTeamId: apns.teamId,
    apnsTopic: apns.topic,
    apnsEndpoint: origin('apns'),
    webpushSubject: 'mailto:operator@example.com',
  };
}

/** The text of a service account whose tokens are to be fetched there, with a key of its own. */
export function serviceAccount(tokenUri: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return JSON.stringify({
    project_id: 'shop-1',
    client_email: 'push@shop-1.example',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: tokenUri,
  });
}

/** Calls out to this machine, whose certificates the authority of the strict servers signed. */
export function outgoingTo({ ca }: StrictServers, clock: Clock): Outgoing {
  const allow = readNetwork('127.0.0.0/8');
  const settings = {
    ...NO_PROXIES,
    outgoingAllow: allow === null ? [] : [allow],
    outgoingAllowHttp: false,
    outgoingOriginRate: 100_000,
  };
  return new Outgoing({ settings, clock, files: { ca, logins: new Map() } });
}

/** A notification that is good for an hour. */
export function contentAt(nowMs: number, change: Partial<PushContent> = {}): PushContent {
  return {
    id: 7,
    kind: 'notification',
    title: 'News',
    body: 'Hello',
    link: 'https://news.example/1',
    image: 'https://img.example/1.png',
    isUrgent: true,
    expiresAtMs: nowMs + 3_600_000,
    inboxMessage: null,
    ...change,
  };
}

/** A silent command that is good for an hour. */
export function commandAt(nowMs: number): PushContent {
  const nothing = { title: null, body: null, link: null, image: null };
  return contentAt(nowMs, { kind: 'command', ...nothing, isUrgent: false });
}

/** An answer as it comes out of the outgoing client. */
export function answer(
  status: number,
  body: unknown = '',
  retryAfterMs: number | null = null,
): OutgoingAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, text, isWhole: true, header: () => null, retryAfterMs };
}

/** An outgoing client that notes calls and answers as told, the last answer again and again. */
export class ScriptedOutgoing {
  readonly calls: OutgoingCall[] = [];

  constructor(private readonly answers: (OutgoingAnswer | OutgoingFailure)[]) {}

  /** Scripts what comes next. */
  script(...answers: (OutgoingAnswer | OutgoingFailure)[]): void {
    this.answers.push(...answers);
  }

  send = (call: OutgoingCall): Promise<OutgoingAnswer | OutgoingFailure> => {
    this.calls.push(call);
    const [next] = this.answers.length > 1 ? this.answers.splice(0, 1) : this.answers;
    if (next === undefined) throw new Error('nothing is scripted');
    return Promise.resolve(next);
  };
}
