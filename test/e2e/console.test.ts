/** The console of the executable in a real browser. */

import { afterAll, beforeAll, expect } from 'bun:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import {
  closePages,
  HAS_CHROMIUM,
  openPage,
  sharedShell,
  testChromium,
} from '../support/chromium.ts';
import { addProviderByCommand, run, type ServerProcess, startServe } from '../support/process.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

const PASSWORD = 'a long enough password';
const HASH = 'a'.repeat(64);
const NOTES = ['Order 1041', 'Anna, tablet', '<img src=x onerror=alert(1)>', 'سفارش ۱۲', 'Spring'];

let browser: Browser;
let server: ServerProcess;
let code: string;
let key: string;
let site: string;

beforeAll(async () => {
  server = await startServe({});
  ({ code, authKey: key } = await addProviderByCommand(server.dataDir));
  site = `http://localhost:${server.port}`;
  const of = `provider_code=${code}&auth_key=${key}`;
  await fetch(`${server.url}/api/add-domain?${of}&domain_hash=${HASH}`);
  for (let n = 0; n < 60; n++) {
    const note = encodeURIComponent(`${NOTES[n % NOTES.length]} ${n}`);
    const path = `/api/add-install?${of}&install_limit=${(n % 5) + 1}&note=${note}`;
    const made = (await (await fetch(`${server.url}${path}`)).json()) as { install_code: string };
    // Of the newest ones some have devices, and some more devices than they admit.
    for (let device = 0; n > 40 && device < n % 4; device++) {
      const facts = `hwid=phone-${n}-${device}&os_name=android&device_model=Pixel`;
      await fetch(`${server.url}/install?id=${HASH}&installid=${made.install_code}&${facts}`);
    }
  }
  if (HAS_CHROMIUM) browser = await sharedShell();
});
afterAll(closePages);

async function open(path: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  const opened = await openPage(context, site);
  await opened.page.goto(`${site}${path}`);
  return { ...opened, context };
}

async function signInByKey(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Provider key' }).click();
  await page.getByLabel('Provider code').fill(code);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'test' }).waitFor();
}

testChromium('a provider signs in, sees its links, finds one and makes one', async () => {
  const { page, troubles } = await open('/console');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signInByKey(page);
  await page.getByRole('link', { name: 'Links' }).click();
  await page.getByText('60 links', { exact: true }).waitFor();
  // What a provider wrote is text.
  await page.getByText('<img src=x onerror=alert(1)> 57').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('tablet');
  await page.getByText('12 links found').waitFor();
  expect(page.url()).toContain('search=tablet');
  await page.getByRole('button', { name: 'Disabled' }).click();
  await page.getByRole('heading', { name: 'No link matches' }).waitFor();
  await page.goto(`${site}/console/links`);
  await page.getByRole('button', { name: 'New link' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Device limit').fill('4');
  await dialog.getByRole('textbox', { name: 'Note' }).fill('from the console');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('row', { name: /from the console/ }).waitFor();
  await page.goto(`${site}/console`);
  // Figures are saved every ten seconds.
  for (let n = 0; (await page.getByText(/^\d+ refusals?$/).count()) === 0 && n < 120; n++) {
    await page.reload();
    await page
      .getByRole('heading', { name: 'Links that refused a device in the last 24 hours' })
      .waitFor();
  }
  await page.getByText('the link is full').first().waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(troubles).toEqual([]);
});

testChromium(
  'an operator comes by a link, sets a password and a passkey, and comes back',
  async () => {
    const words = ['console', 'link', '--data', server.dataDir, '--url', site, '--json'];
    const { link } = JSON.parse((await run(words)).stdout) as { link: string };
    const { page, troubles } = await open(link.slice(site.length));
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    expect(page.url()).not.toContain('entry');
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    await devtools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByText('The password is set.').waitFor();
    await page.getByLabel('Name of this device').fill('laptop');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('laptop').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('link', { name: 'Providers' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    // The page of the account has such labels too.
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Name').fill('operator');
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('That is not right.').waitFor();
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Providers' }).waitFor();
    expect(troubles).toEqual([]);
  },
);

testChromium('in Persian, from right to left, dark, and on a phone', async () => {
  const { page, troubles } = await open('/console', {
    locale: 'fa-IR',
    colorScheme: 'dark',
    viewport: { width: 390, height: 844 },
  });
  await page.getByRole('heading', { name: 'ورود' }).waitFor();
  expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
  await page.getByRole('button', { name: 'کلید اصلی API' }).click();
  await page.getByLabel('کد فروشنده').fill(code);
  await page.getByLabel('کلید API', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'ورود', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'test' }).waitFor();
  await page.locator('.bar button').first().click();
  await page.getByRole('link', { name: 'لینک‌ها' }).click();
  await page.getByText('لینک', { exact: false }).first().waitFor();
  const isTooWide = 'document.documentElement.scrollWidth > innerWidth';
  expect(await page.evaluate(isTooWide)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(troubles).toEqual([]);
});

testChromium('the page is refused to other names, and its policy is strict', async () => {
  const { headers } = await fetch(`${site}/console`);
  expect(headers.get('content-security-policy')).toContain("require-trusted-types-for 'script'");
  const html = await (await fetch(`${site}/console`)).text();
  const loads = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path);
  const files = await Promise.all(
    loads.map((path) =>
      fetch(`${site}${path}`, { decompress: false, headers: { 'accept-encoding': 'br' } }),
    ),
  );
  const sizes = await Promise.all(files.map(async (file) => (await file.bytes()).length));
  expect(files.map(({ status }) => status)).toEqual(loads.map(() => 200));
  for (const file of files) expect(file.headers.get('cache-control')).toContain('immutable');
  // The first load with one language.
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(45 * 1024);
});
