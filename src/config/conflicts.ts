/** Settings that exclude each other, each with the reason. */

import { type PanelKey, signs } from '../core/panel/token.ts';
import { isOnThisMachine } from './database-url.ts';
import type { Config } from './settings/index.ts';

/** Returns a sentence for each conflict with `database.url`; none without it. */
export function databaseConflicts(config: Config): string[] {
  const { databaseUrl: url, databaseCaFile, databaseInsecure, databasePasswordFile } = config;
  if (url === null) return [];
  const isPlainAsked = url.wantsTls === false && !isOnThisMachine(url);
  const wantsTls = databaseCaFile !== '' || url.wantsTls === true;
  const isBare = databaseCaFile !== '' && (url.socket !== null || url.wantsTls === false);
  return [
    ...when(
      config.acmeDomains.length > 0,
      'acme.domains and database.url cannot be combined: each node would request a ' +
        'certificate, but the authority calls only one of them for the proof; ' +
        'end TLS at the load balancer, or set tls.certificate and tls.key',
    ),
    ...when(
      config.backupAt !== '',
      'backup.at and database.url cannot be combined: Gatepost backs up only a database file; ' +
        'PostgreSQL has its own tools, such as pg_dump',
    ),
    ...when(
      config.webpushSubject !== '' && config.webpushKeyFile === '',
      'gateway.webpush.key_file is required with database.url: a subscription belongs to one key, ' +
        'so all nodes need a copy of it',
    ),
    ...when(
      isPlainAsked && !databaseInsecure,
      'database.url: sslmode=disable sends passwords and keys over the network unencrypted: ' +
        'remove it, or set database.insecure if no third party can read that network',
    ),
    ...when(
      databaseInsecure && wantsTls,
      'database.insecure and TLS cannot be combined: remove it, or database.ca_file and sslmode',
    ),
    ...when(
      isBare && !databaseInsecure,
      'database.ca_file is set, but the connection to database.url does not use TLS',
    ),
    ...when(
      !url.isNameChecked && databaseCaFile === '',
      'database.url: sslmode=verify-ca needs database.ca_file: a public authority signs certificates for any host',
    ),
    ...when(
      url.password !== '' && databasePasswordFile !== '',
      'both database.url and database.password_file give a password: remove one of them',
    ),
  ];
}

/**
 * Returns a sentence for each kind of key that lacks a setting, or has one that it does not use.
 */
export function gateConflicts({ gateKey, gateKeySecretFile, gateUpstreams }: Config): string[] {
  const isIdle = (key: PanelKey, file: string) => !signs(key) && file !== '';
  return [
    ...when(
      signs(gateKey) && gateKeySecretFile === '',
      `gate.key = "${gateKey}" needs gate.key_secret_file: behind /gate only the secret proves a token`,
    ),
    ...when(
      isIdle(gateKey, gateKeySecretFile),
      'gate.key_secret_file is for tokens of a panel: set gate.key, or remove it',
    ),
    ...gateUpstreams.flatMap(({ host, key, keySecretFile }) =>
      when(
        isIdle(key, keySecretFile),
        `gate.upstream: key_secret_file of ${host} is for tokens of a panel: set key, or remove it`,
      ),
    ),
    ...gateUpstreams.flatMap((upstream) =>
      panelConflicts(upstream).map((sentence) => `gate.upstream: ${sentence} (${upstream.host})`),
    ),
  ];
}

/** Returns a sentence for each setting that `limits` or `refused_as` of an upstream lacks. */
export function panelConflicts({
  key,
  limits,
  panel,
  panelTokenFile,
  refusedAs,
}: Config['gateUpstreams'][number]): string[] {
  const nameless = 'refused_as = "panel" needs panel, the kind of panel to imitate';
  if (limits === 'own') return when(refusedAs === 'panel' && panel === '', nameless);
  return [
    ...when(panel === '', 'limits = "panel" needs panel, the kind of panel to ask'),
    ...when(panelTokenFile === '', 'limits = "panel" needs panel_token_file, the token of its API'),
    ...when(
      panel !== '' && key !== panel && (key !== 'plain' || panel === 'pasarguard'),
      panel === 'pasarguard'
        ? 'panel = "pasarguard" needs key = "pasarguard": its API knows users, not tokens'
        : `panel = "${panel}" does not know the users of key = "${key}"`,
    ),
  ];
}

function when(condition: boolean, sentence: string): string[] {
  return condition ? [sentence] : [];
}
