/**
 * Every form of a provider, in each of its shapes, is filled control by control, sent, and begins
 * anew. What was typed is in the call; the call fits its record, and is accepted.
 */

import { beforeAll, expect } from 'bun:test';
import { createHash } from 'node:crypto';
import { Value } from '@sinclair/typebox/value';
import type { Locator, Page } from 'playwright-core';
import { RECORDS } from '../../src/call/table.ts';
import { texts as en } from '../../src/console/texts/en.ts';
import { invite } from '../../src/core/account/sign-in.ts';
import { call } from '../support/app.ts';
import { testChromium } from '../support/chromium.ts';
import { openTab, useConsoleSite } from '../support/console-page.ts';
import { makeWorld, type World } from '../support/console-world.ts';
import { becomes } from '../support/until.ts';

const BOT_HOST = 'bot.example.com';

const site = useConsoleSite();
let world: World;
beforeAll(async () => {
  world = await makeWorld(site.app);
  const hash = createHash('sha256').update(BOT_HOST).digest('hex');
  await call(site.app, '/api/add-domain', world.own, { domain_hash: hash, domain_name: BOT_HOST });
});

/** An invitation for an owner: some forms have choices that the provider's key may not make. */
async function newOwner(name: string) {
  const { app } = site;
  const providerId = (await app.core.store.findProvider(world.own.code))?.id ?? 0;
  const grant = { providerId, role: 'owner', isOperators: false } as const;
  const secret = await invite(app.core, grant, app.clock.nowMs());
  if (typeof secret !== 'string') throw new Error(secret.says);
  return { secret, name: `owner-of-${name.replaceAll(' ', '-').toLowerCase()}` };
}

const press = (name: string) => (page: Page) =>
  page.getByRole('button', { name, exact: true }).first().click();
const unfold = (name: string) => (page: Page) => page.getByText(name, { exact: true }).click();

interface Shape {
  path: string | (() => string);
  /** Brings the form into view. */
  open?: (page: Page) => Promise<void>;
  /** The text of the button that sends; with `sends` twice: a check, and what it checked. */
  submit: string;
  calls: readonly string[];
  /** Values by control that must be something special. */
  typed?: Readonly<Record<string, string>>;
  /** True: it keeps its values after a success, or goes with it. */
  keeps?: true;
}

const link = () => `/console/links?link=${world.linkId}`;

const SHAPES: Readonly<Record<string, Shape>> = {
  'new link': {
    path: '/console/links',
    open: press(en.links.add),
    submit: en.links.create,
    calls: ['links.add'],
    typed: { count: '1' },
    keeps: true,
  },
  'new links': {
    path: '/console/links',
    open: press(en.links.add),
    submit: en.links.createMany(3),
    calls: ['links.add-many'],
    typed: { count: '3' },
    keeps: true,
  },
  'link edited': {
    path: link,
    open: unfold(en.link.edit),
    submit: en.common.save,
    calls: ['links.edit'],
    keeps: true,
  },
  'devices named': {
    path: link,
    open: unfold(en.link.name),
    submit: en.link.nameIt,
    calls: ['links.name'],
    typed: { hwids: 'named-1' },
  },
  'final link': {
    path: link,
    submit: en.link.make,
    calls: ['links.final'],
    typed: { url: 'https://sub.example.com/s/key' },
  },
  domain: {
    path: '/console/domains',
    submit: en.domains.bind,
    calls: ['domains.add'],
    typed: { host: 'sub.example.com' },
  },
  webhook: {
    path: '/console/webhooks',
    submit: en.webhooks.add,
    calls: ['webhooks.add'],
    typed: { url: 'https://bot.example.com/form' },
  },
  'Telegram chat': {
    path: '/console/webhooks',
    open: press(en.webhooks.telegram),
    submit: en.webhooks.add,
    calls: ['webhooks.add'],
    typed: { chat: '-1001234567890', token: `123456:${'A'.repeat(35)}` },
  },
  invitation: { path: '/console/staff', submit: en.staff.invite, calls: ['staff.invite'] },
  key: { path: '/console/staff', submit: en.staff.addKey, calls: ['keys.add'] },
  bot: {
    path: '/console/staff',
    submit: en.staff.addBot,
    calls: ['bots.add'],
    typed: { host: BOT_HOST },
  },
  page: {
    path: '/console/userpage',
    submit: en.common.save,
    calls: ['page.set'],
    typed: { supportUrl: 'https://help.example.com/', webPageUrl: 'https://pay.example.com/' },
    keeps: true,
  },
};

const SCHEMAS = new Map(RECORDS.map(([name, { input }]) => [name as string, input]));

/** Returns a value for a control: of its kind, as long as it may be, other than what it has. */
async function valueFor(control: Locator, typed: Shape['typed'], n: number): Promise<string> {
  const facts = (await control.evaluate((one) => {
    const { max, maxLength, name, tagName, type, options } = one as unknown as {
      max: string;
      maxLength: number;
      name: string;
      tagName: string;
      type: string;
      options?: ArrayLike<{ value: string }>;
    };
    const values = Array.from(options ?? [], ({ value }) => value);
    return { max, maxLength, name, tagName, type, values };
  })) as Record<'max' | 'name' | 'tagName' | 'type', string> & {
    maxLength: number;
    values: string[];
  };
  const special = typed?.[facts.name];
  if (special !== undefined) return special;
  if (facts.tagName === 'SELECT') return facts.values.at(-1) ?? '';
  if (facts.type === 'color') return '#123456';
  if (facts.type === 'number') return facts.max === '' ? '7' : `${Math.min(7, Number(facts.max))}`;
  const text = `text ${n} of ${facts.name}`;
  return facts.maxLength >= 0 ? text.slice(0, facts.maxLength) : text;
}

async function typeInto(control: Locator, value: string): Promise<void> {
  await control.fill('');
  await control.pressSequentially(value);
}

const CONTROLS = ['input:not([type=hidden])', 'select', 'textarea'].join(', ');

const valuesOf = (form: Locator) =>
  form.locator(CONTROLS).evaluateAll((all) =>
    all.map((one) => {
      const { checked, name, type, value } = one as unknown as HTMLInput;
      return `${name}=${type === 'checkbox' ? checked : value}`;
    }),
  );

interface HTMLInput {
  checked: boolean;
  name: string;
  type: string;
  value: string;
}

testChromium.each(Object.keys(SHAPES))(
  'the form is filled, sent, and begins anew: %s',
  async (name) => {
    const { path, open, submit, calls, typed, keeps = false } = SHAPES[name] as Shape;
    const at = typeof path === 'string' ? path : path();
    const { page } = await openTab(site, ['session.invited', await newOwner(name)], at);
    await page.locator('main h1, .message-panel h2').first().waitFor();
    await open?.(page);
    const button = page.getByRole('button', { name: submit, exact: true });
    const form = page.locator('form').filter({ has: page.locator('button[type=submit]') });
    const owns = () => form.filter({ has: button }).first();
    // A form of many links has another button once their number is typed.
    const count = page.locator('dialog input[name=count]');
    if (typed?.['count'] !== undefined) await count.fill(typed['count']);
    await owns().waitFor();
    const beginning = await valuesOf(owns());
    const given: string[] = [];
    const controls = owns().locator(CONTROLS);
    for (let n = 0; n < (await controls.count()); n++) {
      const control = controls.nth(n);
      if (!(await control.isVisible())) continue;
      const type = await control.getAttribute('type');
      // A file fills another field.
      if (type === 'file') continue;
      if (type === 'checkbox') {
        await control.check();
        continue;
      }
      // Another number gives the form another button.
      if ((await control.getAttribute('name')) === 'count') continue;
      const value = await valueFor(control, typed, n);
      if ((await control.evaluate((one) => one.tagName)) === 'SELECT') {
        await control.selectOption(value);
      } else {
        await (type === 'color' ? control.fill(value) : typeInto(control, value));
      }
      await becomes(() => control.inputValue(), value);
      if (value !== '') given.push(value);
    }
    const sent = page.waitForResponse((response) =>
      calls.some((one) => response.url().endsWith(`/${one}`)),
    );
    await owns().getByRole('button', { name: submit, exact: true }).click();
    const response = await sent;
    const made = new URL(response.url()).pathname.split('/').at(-1) ?? '';
    const body: unknown = response.request().postDataJSON();
    const schema = SCHEMAS.get(made);
    expect(
      [...Value.Errors(schema as never, body)].map(({ path: of, message }) => [of, message]),
    ).toEqual([]);
    expect(await response.json()).not.toHaveProperty('refused');
    const all = JSON.stringify(body);
    for (const value of given) {
      if (/^\d+$/.test(value) || value.length < 3 || name === 'new links') continue;
      expect(all).toContain(JSON.stringify(value).slice(1, -1));
    }
    if (!keeps) await becomes(() => valuesOf(owns()), beginning);
  },
);
