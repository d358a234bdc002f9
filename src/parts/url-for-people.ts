/** Returns the URL of a server for people: for the first sign-in, and for the first calls. */

import { systemClock } from '../base/clock.ts';
import { publicUrls, urlForPeople } from '../config/public-address.ts';
import { serverOn } from '../config/server-note.ts';
import type { Config } from '../config/settings/index.ts';
import { certifiedNames } from '../doctor/certificate.ts';

/** Returns the URL by which the server of these settings is reached; `url`: where it listens. */
export function urlOfServer(config: Config, url = notedUrl(config)): string {
  return urlForPeople(config, certifiedNames(config, systemClock.nowMs()), url);
}

/** Returns the URL of the server for other machines; null: no setting names one. */
export const publicUrlOf = (config: Config): string | null =>
  publicUrls(config, certifiedNames(config, systemClock.nowMs()))[0] ?? null;

function notedUrl({ dataDir }: Config): string | null {
  const server = serverOn(dataDir);
  return typeof server === 'string' ? null : (server.note?.url ?? null);
}
