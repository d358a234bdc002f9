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

let shell: Promise<Browser> | null = null;

/**
 * Returns the shell of this process, which files that share the process share. It ends with the
 * process. To start it takes as long as two short tests.
 */
export function sharedShell(): Promise<Browser> {
  shell ??= launch(SHELL);
  return shell;
}

/** Starts the whole program, which alone shows notifications. The caller closes it. */
export const startBrowser = (): Promise<Browser> => launch(BROWSER);

/** Closes every page of the shared shell. */
export async function closePages(): Promise<void> {
  const browser = await shell;
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

function launch(executablePath: string | null): Promise<Browser> {
  // Without the last ones it asks its maker's servers at each start.
  const args = [
    ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
    ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ];
  return chromium.launch({ executablePath: executablePath ?? '', args });
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
