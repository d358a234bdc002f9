/** What is set up: from settings and files, at a start and again in flight. */

import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '../../src/base/operator-error.ts';
import {
  type GatewaySet,
  type GatewaySettings,
  makeGateways,
  NO_GATEWAYS,
  vapidFileOf,
} from '../../src/gateway/gateways.ts';
import { freshFolder } from '../support/app.ts';
import { writeSecret } from '../support/certificate.ts';
import { FakeClock } from '../support/clock.ts';
import { NO_GATEWAY, ScriptedOutgoing } from '../support/gateway.ts';

const folders: string[] = [];
let dataDir = '';
beforeEach(() => {
  dataDir = freshFolder();
  folders.push(dataDir);
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
const pem = (key: typeof rsa) => String(key.export({ type: 'pkcs8', format: 'pem' }));

const ACCOUNT = {
  type: 'service_account',
  project_id: 'shop-1',
  private_key_id: 'k1',
  private_key: pem(rsa),
  client_email: 'push@shop-1.example',
  token_uri: 'https://token.example/token',
};

function make(change: Partial<GatewaySettings>, before?: GatewaySet): GatewaySet {
  const parts = { outgoing: new ScriptedOutgoing([]), clock: new FakeClock() };
  return makeGateways({ ...NO_GATEWAY, dataDir, ...change }, parts, before);
}

function reasonAgainst(change: Partial<GatewaySettings>): string {
  try {
    make(change);
  } catch (error) {
    if (error instanceof OperatorError) return error.message.replaceAll(dataDir, 'DIR');
    throw error;
  }
  return '';
}

function file(name: string, text: string): string {
  writeSecret(join(dataDir, name), text);
  return join(dataDir, name);
}

const apns = (change: Partial<GatewaySettings> = {}) => ({
  apnsKeyFile: file('key.p8', pem(ec)),
  apnsKeyId: 'KEY0123456',
  apnsTeamId: 'TEAM012345',
  apnsTopic: 'com.example.app',
  ...change,
});

test('nothing is set up: nothing is made, no file either', () => {
  expect(make({})).toEqual(NO_GATEWAYS);
  expect(readdirSync(dataDir)).toEqual([]);
});

test('all three', () => {
  const made = make({
    fcmServiceAccount: file('account.json', JSON.stringify(ACCOUNT)),
    ...apns(),
    webpushSubject: 'mailto:operator@example.com',
  });
  expect(Object.keys(made.all)).toEqual(['fcm', 'apns', 'webpush']);
  expect(Object.values(made.all).map(({ concurrency }) => concurrency)).toEqual([64, 64, 4]);
  expect(made.pushKey).toMatch(/^B[\w-]{86}$/);
});

describe('a mistake is one sentence', () => {
  const account = (change: object) => ({
    fcmServiceAccount: file('account.json', JSON.stringify({ ...ACCOUNT, ...change })),
  });

  test.each([
    [
      () => ({ fcmServiceAccount: file('a', 'no JSON') }),
      'is not the JSON file of a service account',
    ],
    [
      () => account({ private_key: undefined }),
      'is not the JSON file of a service account: no private_key',
    ],
    [() => account({ private_key: 'x' }), 'has a private key that cannot be read'],
    [() => account({ private_key: pem(ec) }), 'has a private key that is not RSA'],
    [() => account({ project_id: '../x' }), 'has no valid project_id'],
    [() => account({ token_uri: 'http://x.example/' }), 'has a token_uri that is no https URL'],
    [() => apns({ apnsKeyFile: file('k', 'x') }), 'has no private key in PEM'],
    [
      () => apns({ apnsKeyFile: file('k', pem(other)) }),
      'has another kind of key: it must be on the curve P-256',
    ],
  ])('%#: %s', (change, problem) => {
    expect(reasonAgainst(change())).toEndWith(` ${problem}`);
    expect(reasonAgainst(change())).toMatch(
      /^gateway\.(?:fcm\.service_account|apns\.key_file): DIR/,
    );
  });

  test.each([
    [
      { apnsKeyFile: '' },
      'gateway.apns.key_file must be set together with the other keys of gateway.apns',
    ],
    [{ apnsKeyId: 'short' }, 'gateway.apns.key_id must be ten capital letters and digits'],
    [{ apnsTeamId: '' }, 'gateway.apns.team_id must be ten capital letters and digits'],
    [{ apnsEndpoint: 'http://apns.example' }, 'gateway.apns.endpoint must be an https address'],
    [{ apnsTopic: 'app' }, 'gateway.apns.topic must be a bundle id such as com.example.app'],
  ])('%j', (change, problem) => {
    expect(reasonAgainst(apns(change))).toBe(problem);
  });

  test('a VAPID key without a subject', () => {
    expect(reasonAgainst({ webpushKeyFile: '/etc/vapid.key' })).toBe(
      'gateway.webpush.subject must be set together with gateway.webpush.key_file',
    );
  });

  test('FCM without TLS', () => {
    const fcmEndpoint = 'http://fcm.example';
    expect(reasonAgainst({ ...account({}), fcmEndpoint })).toBe(
      'gateway.fcm.endpoint must be an https address',
    );
  });

  test('a file that is not there', () => {
    const fcmServiceAccount = join(dataDir, 'missing.json');
    expect(reasonAgainst({ fcmServiceAccount })).toStartWith(
      'gateway.fcm.service_account: cannot read DIR/missing.json: ',
    );
  });

  test('a file that everybody may read', () => {
    const path = file('account.json', JSON.stringify(ACCOUNT));
    chmodSync(path, 0o644);
    expect(reasonAgainst({ fcmServiceAccount: path })).toBe(
      `gateway.fcm.service_account: the file DIR/account.json holds secrets and has mode 0644, open to all users: run 'chmod 600 DIR/account.json'`,
    );
  });

  test('nothing of a key is in it', () => {
    const path = file('account.json', JSON.stringify({ ...ACCOUNT, private_key: 'secret-of-key' }));
    expect(reasonAgainst({ fcmServiceAccount: path })).not.toContain('secret-of-key');
  });
});

describe('the VAPID key', () => {
  const webpush = { webpushSubject: 'mailto:operator@example.com' };

  test('is made when it is first needed, for the owner alone, and stays', () => {
    const path = join(dataDir, 'vapid.key');
    const { pushKey, newKeyFile } = make(webpush);
    expect(newKeyFile).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toStartWith('-----BEGIN PRIVATE KEY-----');
    expect(readdirSync(dataDir)).toEqual(['vapid.key']);
    expect(make(webpush)).toMatchObject({ pushKey, newKeyFile: null });
  });

  test('that is there is enough: nothing is written beside it', () => {
    make(webpush);
    const { mtimeMs } = statSync(dataDir);
    make(webpush);
    expect(statSync(dataDir).mtimeMs).toBe(mtimeMs);
  });

  test('is in the file that is named', () => {
    const webpushKeyFile = join(dataDir, 'own.pem');
    make({ ...webpush, webpushKeyFile });
    expect(readdirSync(dataDir)).toEqual(['own.pem']);
    expect(vapidFileOf({ ...NO_GATEWAY, dataDir, webpushKeyFile })).toBe(webpushKeyFile);
  });

  test('that is there already is the one', () => {
    const webpushKeyFile = file('own.pem', pem(ec));
    const { x = '', y = '' } = ec.export({ format: 'jwk' });
    const point = Buffer.concat([
      Buffer.of(4),
      Buffer.from(x, 'base64url'),
      Buffer.from(y, 'base64url'),
    ]);
    expect(make({ ...webpush, webpushKeyFile }).pushKey).toBe(point.toString('base64url'));
  });

  test('is only read when it is there: its folder may be one that we cannot write', () => {
    const own = openSync(file('own.pem', pem(ec)), 'r');
    // No process can make a file in this folder.
    const webpushKeyFile = `/proc/self/fd/${own}`;
    expect(make({ ...webpush, webpushKeyFile }).pushKey).toMatch(/^B[\w-]{86}$/);
    closeSync(own);
  });

  test('is not made where a link leads nowhere: a disk may be missing', () => {
    const webpushKeyFile = join(dataDir, 'own.pem');
    symlinkSync(join(dataDir, 'missing'), webpushKeyFile);
    expect(reasonAgainst({ ...webpush, webpushKeyFile })).toStartWith(
      'gateway.webpush.key_file: cannot read DIR/own.pem: ',
    );
    expect(readdirSync(dataDir)).toEqual(['own.pem']);
  });

  test('cannot be made in a folder that is not there', () => {
    const webpushKeyFile = join(dataDir, 'no', 'own.pem');
    expect(reasonAgainst({ ...webpush, webpushKeyFile })).toStartWith(
      'gateway.webpush.key_file: cannot make DIR/no/own.pem: ',
    );
    expect(existsSync(join(dataDir, 'no'))).toBe(false);
  });
});

describe('asked to retry', () => {
  test('a gateway whose files and settings are the same goes on, with what it knows', () => {
    const settings = {
      ...apns(),
      fcmServiceAccount: file('account.json', JSON.stringify(ACCOUNT)),
    };
    const first = make(settings);
    const second = make(settings, first);
    expect(second.all.apns).toBe(first.all.apns);
    expect(second.all.fcm).toBe(first.all.fcm);
  });

  test('one whose file was mended is made anew, and no other', () => {
    const settings = {
      ...apns(),
      fcmServiceAccount: file('account.json', JSON.stringify(ACCOUNT)),
    };
    const first = make(settings);
    file('account.json', JSON.stringify({ ...ACCOUNT, client_email: 'other@shop-1.example' }));
    const second = make(settings, first);
    expect(second.all.fcm).not.toBe(first.all.fcm);
    expect(second.all.apns).toBe(first.all.apns);
  });

  test('one whose setting was taken out is gone', () => {
    const first = make(apns());
    expect(make({}, first)).toEqual(NO_GATEWAYS);
  });
});
