/** Debian's Chromium, for tests of the console in a real browser. */

import { test } from 'bun:test';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { until } from './until.ts';

const BROWSER = Bun.which('chromium') ?? Bun.which('google-chrome');
/** The same engine without a browser around it: half the time of the processor. */
const SHELL = Bun.which('chromium-headless-shell') ?? BROWSER;

const MISSING = 'there is no chromium: make test-tools installs it';
if (BROWSER === null) {
  // Where submissions are judged, a test that did not run is one that failed.
  if (process.env['CI'] === 'true') throw new Error(MISSING);
  console.warn(`Tests are skipped: ${MISSING}.`);
}

export const HAS_CHROMIUM = BROWSER !== null;

/** `test` if there is a Chromium. */
export const testChromium = test.skipIf(!HAS_CHROMIUM);

/** Starts the shell; `browser`, which alone shows notifications, starts the whole program. */
export function startChromium(what: 'browser' | 'shell' = 'shell'): Promise<Browser> {
  const executablePath = (what === 'shell' ? SHELL : BROWSER) ?? '';
  // Without the last ones it asks its maker's servers at each start.
  const args = [
    ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
    ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ];
  return chromium.launch({ executablePath, args });
}

/** A page that notes what must not happen: faults, refused contents, calls to elsewhere. */
export async function openPage(
  context: BrowserContext,
  url: string,
): Promise<{ page: Page; troubles: string[] }> {
  const troubles: string[] = [];
  const page = await context.newPage();
  page.on('pageerror', (fault) => troubles.push(String(fault)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') troubles.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) {
      troubles.push(`asks ${request.url()}`);
    }
  });
  return { page, troubles };
}

/** Delivers the plain text of a push to the service worker of an origin. */
export async function deliverPush(
  context: BrowserContext,
  page: Page,
  origin: string,
  data: string,
): Promise<void> {
  const session = await context.newCDPSession(page);
  const ids: string[] = [];
  session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
    ids.push(...registrations.map(({ registrationId }) => registrationId));
  });
  await session.send('ServiceWorker.enable');
  await until('a registration', () => ids.length > 0);
  const registrationId = ids.at(-1) ?? '';
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
}
