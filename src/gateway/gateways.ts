/** Makes the gateways that are configured. */

import { join } from 'node:path';
import { OperatorError } from '../base/operator-error.ts';
import { readSecretFile } from '../base/permissions.ts';
import type { Gateway, Gateways } from '../core/outbox/carrier.ts';
import type { PushGateway } from '../core/port/registration.ts';
import { Apns } from './apns.ts';
import { Fcm, readServiceAccount } from './fcm.ts';
import { type GatewayParts, readSigningKey } from './parts.ts';
import { makeVapidFile, VapidKey } from './vapid.ts';
import { WebPush } from './webpush.ts';

/** The settings of gateways, which docs/configuration.md explains. */
export interface GatewaySettings {
  readonly dataDir: string;
  /** Null: no other node uses the database. */
  readonly databaseUrl: object | null;
  readonly fcmServiceAccount: string;
  readonly fcmEndpoint: string;
  readonly fcmChannelId: string;
  readonly apnsKeyFile: string;
  readonly apnsKeyId: string;
  readonly apnsTeamId: string;
  readonly apnsTopic: string;
  readonly apnsSandbox: boolean;
  readonly apnsEndpoint: string;
  readonly webpushSubject: string;
  readonly webpushKeyFile: string;
}

export interface GatewaySet {
  readonly all: Gateways;
  /** The public VAPID key; null: Web Push is not configured. */
  readonly pushKey: string | null;
  /** The file of a VAPID key that was just made; null: none was. */
  readonly newKeyFile: string | null;
  /** The files and settings of each gateway: while they stay, the gateway is reused. */
  readonly madeOf: Readonly<Partial<Record<PushGateway, string>>>;
}

export const NO_GATEWAYS: GatewaySet = { all: {}, pushKey: null, newKeyFile: null, madeOf: {} };

interface Plan {
  madeOf: string;
  make(): Gateway;
}

/**
 * Makes the gateways of the settings from their files, and a VAPID key if the file is missing.
 * Reuses the gateways of `before` whose files and settings have not changed, with their tokens:
 * Apple accepts a new signature once in 20 minutes. Throws `OperatorError`, one sentence, if a
 * setting or a file is wrong.
 */
export function makeGateways(
  settings: GatewaySettings,
  parts: GatewayParts,
  before: GatewaySet = NO_GATEWAYS,
): GatewaySet {
  const vapid = planWebPush(settings, parts);
  const plans: Record<PushGateway, Plan | null> = {
    fcm: planFcm(settings, parts),
    apns: planApns(settings, parts),
    webpush: vapid,
  };
  const all: Partial<Record<PushGateway, Gateway>> = {};
  const madeOf: Partial<Record<PushGateway, string>> = {};
  for (const [name, plan] of Object.entries(plans) as [PushGateway, Plan | null][]) {
    if (plan === null) continue;
    const old = before.madeOf[name] === plan.madeOf ? before.all[name] : undefined;
    all[name] = old ?? plan.make();
    madeOf[name] = plan.madeOf;
  }
  const pushKey = vapid?.key.publicKey ?? null;
  return { all, madeOf, pushKey, newKeyFile: vapid?.newKeyFile ?? null };
}

/** HTTP/2 and our credentials need TLS. */
const isSafe = (url: string) => url.startsWith('https://');
const SAFE = 'an https address';

function wrong(key: string, rule: string): OperatorError {
  return new OperatorError(`gateway.${key} must be ${rule}`, 'config_invalid');
}

function planFcm(settings: GatewaySettings, parts: GatewayParts): Plan | null {
  const { fcmServiceAccount: path, fcmEndpoint: endpoint, fcmChannelId: channelId } = settings;
  if (path === '') return null;
  if (!isSafe(endpoint)) throw wrong('fcm.endpoint', SAFE);
  const { text, value: account } = readFile(
    'gateway.fcm.service_account',
    path,
    readServiceAccount,
  );
  return {
    madeOf: JSON.stringify([text, endpoint, channelId]),
    make: () => new Fcm(account, { endpoint, channelId }, parts),
  };
}

const APPLE = 'https://api.push.apple.com';
const APPLE_SANDBOX = 'https://api.sandbox.push.apple.com';
const APPLE_ID = /^[A-Z0-9]{10}$/;
/** A bundle id, which may end in the name of another kind of push. */
const TOPIC = /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/;

function planApns(settings: GatewaySettings, parts: GatewayParts): Plan | null {
  const { apnsKeyFile: path, apnsKeyId: keyId, apnsTeamId: teamId, apnsTopic: topic } = settings;
  if ([path, keyId, teamId, topic].every((value) => value === '')) return null;
  if (path === '') throw wrong('apns.key_file', 'set together with the other keys of gateway.apns');
  if (!APPLE_ID.test(keyId)) throw wrong('apns.key_id', 'ten capital letters and digits');
  if (!APPLE_ID.test(teamId)) throw wrong('apns.team_id', 'ten capital letters and digits');
  if (!TOPIC.test(topic)) throw wrong('apns.topic', 'a bundle id such as com.example.app');
  const { text, value: key } = readFile('gateway.apns.key_file', path, readSigningKey);
  const endpoint = apnsEndpointOf(settings);
  if (!isSafe(endpoint)) throw wrong('apns.endpoint', SAFE);
  return {
    madeOf: JSON.stringify([text, keyId, teamId, topic, endpoint]),
    make: () => new Apns({ key, keyId, teamId, topic }, endpoint, parts),
  };
}

/** Returns the endpoint of APNs. */
export function apnsEndpointOf({ apnsEndpoint, apnsSandbox }: GatewaySettings): string {
  if (apnsEndpoint !== '') return apnsEndpoint;
  return apnsSandbox ? APPLE_SANDBOX : APPLE;
}

/** Returns the path of the VAPID key. */
export function vapidFileOf({ dataDir, webpushKeyFile }: GatewaySettings): string {
  return webpushKeyFile === '' ? join(dataDir, 'vapid.key') : webpushKeyFile;
}

function planWebPush(
  settings: GatewaySettings,
  parts: GatewayParts,
): (Plan & { key: VapidKey; newKeyFile: string | null }) | null {
  const { webpushSubject: subject } = settings;
  if (subject === '') {
    if (settings.webpushKeyFile === '') return null;
    throw wrong('webpush.subject', 'set together with gateway.webpush.key_file');
  }
  const path = vapidFileOf(settings);
  // Nodes on one database share the key, of which each would make another.
  const newKeyFile = settings.databaseUrl === null && makeVapidFile(path) ? path : null;
  const { text, value: key } = readFile('gateway.webpush.key_file', path, VapidKey.read);
  return {
    madeOf: JSON.stringify([text, subject]),
    key,
    newKeyFile,
    make: () => new WebPush(key, subject, parts),
  };
}

/** Reads the file of a setting. Throws `OperatorError`. */
function readFile<T>(
  setting: string,
  path: string,
  read: (text: string) => T | string,
): { text: string; value: T } {
  const file = readSecretFile(path);
  if ('problem' in file) throw new OperatorError(`${setting}: ${file.problem}`, 'config_invalid');
  const value = read(file.text);
  if (typeof value === 'string') {
    throw new OperatorError(`${setting}: ${path} ${value}`, 'config_invalid');
  }
  return { text: file.text, value: value as T };
}
