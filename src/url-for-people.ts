/** Returns the URL of a server for people: for the first sign-in, and for the first calls. */

import { systemClock } from './clock.ts';
import { urlForPeople } from './config/public-address.ts';
import { serverOn } from './config/server-note.ts';
import type { Config } from './config/settings/index.ts';
import { certifiedNames } from './doctor/certificate.ts';

/** Returns the URL by which the server of these settings is reached; `url`: where it listens. */
export function urlOfServer(config: Config, url = notedUrl(config)): string {
  return urlForPeople(config, certifiedNames(config, systemClock.nowMs()), url);
}

function notedUrl({ dataDir }: Config): string | null {
  const server = serverOn(dataDir);
  return typeof server === 'string' ? null : (server.note?.url ?? null);
}
