/** Which settings a reload applies: each is changed, alone. */

import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changeBetween, loadConfig, reloaded } from '../../src/config/load.ts';
import { type SettingName, settingRows } from '../../src/config/settings/index.ts';
import { freshFolder } from '../support/app.ts';

const folder = freshFolder();
afterAll(() => rmSync(folder, { recursive: true }));

const UPSTREAM = { host: 'a.example', url: 'http://127.0.0.1:1', provider: 'Ab3dE5gH' };

/** Another value of each setting that is neither a switch nor a number which may be one larger. */
const OTHERS: Partial<Record<SettingName, string>> = {
  dataDir: './other',
  host: '127.0.0.2',
  socket: '/run/gatepost/gatepost.sock',
  socketMode: '0600',
  socketGroup: 'www-data',
  proxyNetworks: '10.0.0.0/8',
  outputOffsetMinutes: '+05:30',
  trustedProxies: '10.0.0.0/8',
  sharedAddresses: '203.0.113.0/28',
  strangers: 'quiet',
  strangerPage: '/srv/page.html',
  ownHosts: 'gate.example.com',
  gateProxies: '10.0.0.0/8',
  gateKeyPaths: '/other/{key}',
  gateKey: 'hiddify',
  gateKeySecretFile: '/secret',
  gatePanel: '3x-ui',
  gatePanelUrl: 'http://127.0.0.1:2',
  gatePanelTokenFile: '/token',
  gatePanelAccountFile: '/account',
  gatePanelHeadersFile: '/headers',
  gateRead: 'panel',
  gateLanguage: 'ru',
  gateRide: 'notifications',
  gateProviderIdFile: '/id',
  gateUpstreams: JSON.stringify([{ ...UPSTREAM, default_limit: 3 }]),
  gateTexts: JSON.stringify({ ru: { link_disabled: 'Нет' } }),
  rideHosts: 'a.example',
  myPath: '/mine',
  myUrl: 'https://my.example.com',
  consoleBanner: 'Maintenance',
  privacyKeep: 'less',
  pingSecondsMax: '300',
  databaseUrl: 'postgres://gatepost@127.0.0.1/gatepost',
  databasePasswordFile: '/password',
  databaseCaFile: '/ca.pem',
  databaseNode: 'two',
  logFormat: 'json',
  logLevel: 'debug',
  backupAt: '0 3 * * *',
  backupDirectory: '/backups',
  backupAfter: '["/usr/bin/rclone"]',
  backupPassphrase: 'correct horse battery',
  backupPassphraseFile: '/passphrase',
  tlsCertificate: '/cert.pem',
  tlsKey: '/key.pem',
  acmeDomains: 'gate.example.com',
  acmeEmail: 'a@example.com',
  acmeDirectory: 'https://acme.example.com/directory',
  acmeProfile: 'shortlived',
  acmeChallenge: 'dns-01',
  acmeDnsHook: '/hook',
  acmeEabKid: 'kid',
  acmeEabKey: 'a2V5',
  monitorHost: '127.0.0.2',
  fcmServiceAccount: '/fcm.json',
  fcmEndpoint: 'https://fcm.example.com',
  fcmChannelId: 'news',
  apnsKeyFile: '/apns.p8',
  apnsKeyId: 'ABCDE12345',
  apnsTeamId: 'ABCDE12345',
  apnsTopic: 'com.example.app',
  apnsEndpoint: 'https://apns.example.com',
  webpushSubject: 'mailto:a@example.com',
  webpushKeyFile: '/vapid.pem',
  outgoingAllow: '10.0.0.0/8',
  outgoingCaFile: '/ca.pem',
  outgoingProxyTelegram: 'socks5://127.0.0.1:1080',
  outgoingProxyFcm: 'http://127.0.0.1:3128',
  outgoingProxyApns: 'socks5://[::1]:1080',
  outgoingProxyUpdate: 'socks5://proxy.example.com:1080',
  outgoingProxyWebhooks: 'http://127.0.0.1:3128',
  outgoingProxyLoginFile: '/own-logins',
  webhookEndingDays: '5',
  telegramEndpoint: 'https://telegram.example.com',
  updateUrl: 'https://releases.example.com',
  updateKey: `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'a'.repeat(43)}`,
};

/** Settings of things that are opened once, such as sockets, pools, accounts, data. */
const WAITING: readonly SettingName[] = [
  ...(['dataDir', 'host', 'port', 'socket', 'socketMode', 'socketGroup'] as const),
  ...(['proxyNetworks', 'proxyLoopback', 'proxySocket'] as const),
  ...(['databaseUrl', 'databasePasswordFile', 'databaseCaFile', 'databaseInsecure'] as const),
  ...(['databaseConnections', 'databaseStatementSeconds', 'databasePooler'] as const),
  ...(['databaseNode', 'commitBatchMax', 'monitorHost', 'monitorPort'] as const),
  ...(['tlsCertificate', 'tlsKey', 'acmeDomains', 'acmeEmail', 'acmeDirectory'] as const),
  ...(['acmeProfile', 'acmeChallenge', 'acmeHttpPort', 'acmeDnsHook'] as const),
  ...(['acmeEabKid', 'acmeEabKey'] as const),
];

const NONE = { GATEPOST_CONFIG: 'none' };
const CLEAR = { GATEPOST_BACKUP_AFTER_CLEAR: 'true' };

const PROXIED = { GATEPOST_PROXY_PROTOCOL_NETWORKS: '10.0.0.5', GATEPOST_HOST: '10.0.0.2' };

/** Settings that are given besides, without which others are refused. */
function baseOf(name: SettingName): Record<string, string> {
  if (name === 'gateKeySecretFile') {
    return { ...NONE, GATEPOST_GATE_KEY: 'marzban', GATEPOST_GATE_KEY_SECRET_FILE: '/own-secret' };
  }
  const socket = { GATEPOST_SOCKET: '/run/gatepost/own.sock' };
  if (name === 'socketGroup' || name === 'proxySocket') return { ...NONE, ...socket };
  if (name === 'proxyNetworks') return { ...NONE, GATEPOST_HOST: '10.0.0.2' };
  if (name === 'proxyLoopback') return { ...NONE, ...PROXIED };
  if (name === 'backupAfter') return { ...NONE, ...CLEAR };
  if (!name.startsWith('gatePanel') && name !== 'gateRead') return NONE;
  if (name === 'gatePanelAccountFile') {
    return {
      ...baseOf('gateKeySecretFile'),
      GATEPOST_GATE_PANEL_ACCOUNT_FILE: '/own-account',
      GATEPOST_GATE_PANEL_URL: 'http://127.0.0.1:3',
    };
  }
  const panel = { GATEPOST_GATE_PANEL: 'remnawave', GATEPOST_GATE_PANEL_TOKEN_FILE: '/own-token' };
  return { ...NONE, ...panel, GATEPOST_GATE_PANEL_URL: 'http://127.0.0.1:3' };
}

/** Returns the flags of a file with one setting, for settings that no variable may set. */
function inFile(key: string, value: string) {
  const [section = '', name = ''] = key.split('.');
  const configFile = join(folder, `${name}.toml`);
  writeFileSync(configFile, `[${section}]\n${name} = ${value}\n`, { mode: 0o600 });
  return { configFile };
}

function otherThan(name: SettingName, standard: string): string {
  const other = OTHERS[name];
  if (other !== undefined) return other;
  if (standard === 'true' || standard === 'false') return String(standard === 'false');
  if (!/^\d+$/.test(standard)) throw new Error(`give another value of ${name}`);
  return String(Number(standard) + 1);
}

describe.each(settingRows)('%s', (name, row) => {
  const base = baseOf(name);
  const before = loadConfig({}, base);
  const other = otherThan(name, row.default);
  const after =
    row.env === ''
      ? loadConfig(inFile(row.key, other), CLEAR)
      : loadConfig({}, { ...base, [row.env]: other });
  const waits = WAITING.includes(name);

  test(waits ? 'needs a restart, and is named' : 'is reloaded', () => {
    expect(changeBetween(before, after)).toEqual({
      live: waits ? [] : [row.key],
      waiting: waits ? [row.key] : [],
    });
    const now = reloaded(before, after);
    expect(now.config[name]).toEqual((waits ? before : after).config[name]);
    expect(now.sources[name].text).toBe((waits ? before : after).sources[name].text);
  });
});
