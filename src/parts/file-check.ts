/** Reads what a reload reads, and changes nothing: mistakes are found before the signal. */

import { existsSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { SecretFiles } from '../config/secret-files.ts';
import type { Config } from '../config/settings/index.ts';
import { makeGateways, vapidFileOf } from '../gateway/gateways.ts';
import { readStrangerPage } from './live-stranger-page.ts';
import { openOutgoing } from './open-outgoing.ts';

/**
 * Reads the files that settings name: secrets, the page for strangers, keys of gateways. Throws
 * `OperatorError` where a reload would be refused.
 */
export function checkFiles(settings: Config): void {
  new SecretFiles().prepare(settings);
  readStrangerPage(settings.strangerPage);
  const outgoing = openOutgoing(settings);
  // A server makes this key if it is missing; a check makes no file.
  const isPushing = settings.webpushSubject !== '' && settings.databaseUrl === null;
  const webpush =
    isPushing && !existsSync(vapidFileOf(settings))
      ? { webpushSubject: '', webpushKeyFile: '' }
      : {};
  try {
    makeGateways({ ...settings, ...webpush }, { outgoing, clock: systemClock });
  } finally {
    outgoing.close();
  }
}
