/** Settings that cannot be had together, each with the reason. */

import { isOnThisMachine } from './database-url.ts';
import type { Config } from './settings/index.ts';

/** Sentences about the settings of a PostgreSQL database; none without `database.url`. */
export function databaseConflicts(config: Config): string[] {
  const { databaseUrl: url, databaseCaFile, databaseInsecure, databasePasswordFile } = config;
  if (url === null) return [];
  const isPlainAsked = url.wantsTls === false && !isOnThisMachine(url);
  const wantsTls = databaseCaFile !== '' || url.wantsTls === true;
  const isBare = databaseCaFile !== '' && (url.socket !== null || url.wantsTls === false);
  return [
    ...when(
      config.acmeDomains.length > 0,
      'acme.domains and database.url cannot be had together: each node would ask for a ' +
        'certificate of its own, and the authority asks only one of them for the proof; ' +
        'have TLS at the load balancer, or name the files tls.certificate and tls.key',
    ),
    ...when(
      config.backupAt !== '',
      'backup.at and database.url cannot be had together: a backup here is a copy of a file; ' +
        'PostgreSQL has its own, see docs/several-nodes.md',
    ),
    ...when(
      config.webpushSubject !== '' && config.webpushKeyFile === '',
      'gateway.webpush.key_file must be given beside database.url: subscriptions hold for one ' +
        'key alone, so all nodes have a copy of the same',
    ),
    ...when(
      isPlainAsked && !databaseInsecure,
      'database.url: sslmode=disable sends passwords and keys over the network in the clear: ' +
        'take it out, or set database.insecure if nobody can listen in',
    ),
    ...when(
      databaseInsecure && wantsTls,
      'database.insecure and TLS cannot be had together: take it out, ' +
        'or database.ca_file and sslmode',
    ),
    ...when(
      isBare && !databaseInsecure,
      'database.ca_file is given, but database.url is reached without TLS',
    ),
    ...when(
      !url.isNameChecked && databaseCaFile === '',
      'database.url: sslmode=verify-ca needs database.ca_file: a public authority vouches for anybody',
    ),
    ...when(
      url.password !== '' && databasePasswordFile !== '',
      'database.url has a password, and database.password_file too: take one of them out',
    ),
  ];
}

function when(isSo: boolean, sentence: string): string[] {
  return isSo ? [sentence] : [];
}
