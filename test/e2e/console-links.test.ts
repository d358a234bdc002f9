/**
 * Each flow of links in the console of the executable, in one language; with
 * TEST_LONG=1 in both. What each part refuses and how it looks, test/console has.
 */

import { afterAll, beforeAll, describe, expect } from 'bun:test';
import type { Browser } from 'playwright-core';
import type { BaseTexts } from '../../src/console/texts/texts.ts';
import type { Credentials } from '../../src/core/provider.ts';
import { closePages, HAS_CHROMIUM, sharedShell, testChromium } from '../support/chromium.ts';
import {
  addProvider,
  ask,
  HASH,
  knock,
  signInByKey,
  siteOf,
  TRIED,
  type Visit,
  visit,
} from '../support/console-served.ts';
import { type ServerProcess, startServe } from '../support/process.ts';
import { until } from '../support/until.ts';
import { useProcesses } from '../support/use-processes.ts';

useProcesses();

let server: ServerProcess;
let browser: Browser;
let site: string;
beforeAll(async () => {
  server = await startServe();
  site = siteOf(server);
  if (HAS_CHROMIUM) browser = await sharedShell();
});
afterAll(closePages);

interface Row {
  id: number;
  install_code: string;
  install_limit: number;
  install_count: number;
  note: string | null;
  status: number;
}

interface Scene extends Visit {
  words: BaseTexts;
  own: Credentials;
  /** The links as the public API has them, by their notes. */
  links(): Promise<Record<string, Row>>;
  /** Opens the panel of a link. */
  panel(note: string): Promise<ReturnType<Visit['page']['locator']>>;
}

/** Fills the filter, and waits until it is in the address. */
async function search({ page }: Scene, text: string): Promise<void> {
  await page.locator('input[type=search]').fill(text);
  await page.waitForURL((url) => (url.searchParams.get('search') ?? '') === text);
}

/** Begins a change of many links by a filter, after its preview. */
async function changeMany(scene: Scene): Promise<void> {
  const { hand, page, words } = scene;
  await page.goto(`${site}/console/links`);
  await search(scene, 'imported');
  await page.getByText(words.links.countFound(1), { exact: true }).waitFor();
  await hand.click(page.getByRole('button', { name: words.links.more }));
  await hand.press(words.links.bulk);
  const dialog = page.locator('dialog[open]');
  await hand.type(words.heads.install_limit, '9', dialog);
  await hand.press(words.links.preview, dialog);
  await dialog.getByText(words.links.willChange(1)).waitFor();
  await hand.press(words.links.changeMany(1), dialog);
  await page.locator('.jobs').getByText(words.jobs.changing).waitFor();
}

type Flow = (scene: Scene) => Promise<void>;
const FLOWS: Readonly<Record<string, Flow>> = {
  'one is made, then many': async ({ hand, links, page, words }) => {
    const dialog = page.locator('dialog[open]');
    await hand.follow(words.shell.links);
    await hand.press(words.links.add);
    await hand.type(words.heads.note, 'single', dialog);
    await hand.press(words.links.create, dialog);
    await page.locator('.message-panel').waitFor();
    await page.keyboard.press('Escape');
    await hand.press(words.links.add);
    await hand.type(words.links.howMany, '5', dialog);
    await hand.type(words.heads.note, 'batch {n}', dialog);
    await hand.press(words.links.createMany(5), dialog);
    await dialog.getByText(words.links.areReady(5)).waitFor();
    await hand.press(words.common.close, dialog);
    expect(Object.keys(await links())).toContain('batch 5');
  },
  'search and chips': async (scene) => {
    const { hand, links, own, page, words } = scene;
    const found = (n: number) =>
      page.getByText(words.links.countFound(n), { exact: true }).waitFor();
    const { 'batch 1': full, 'batch 2': off } = await links();
    await ask(site, '/api/update-install', own, { id: `${off?.id}`, status: '5' });
    // Its refusal is written within ten seconds, for a later flow.
    await knock(site, full?.install_code ?? '', 'old');
    await ask(site, '/api/update-install', own, { id: `${full?.id}`, install_limit: '1' });
    expect(await knock(site, full?.install_code ?? '', 'new')).toMatchObject({ rc: 0 });
    await search(scene, 'batch');
    await found(5);
    await hand.press(words.links.disabled);
    await found(1);
    expect(page.url()).toContain('is%3Adisabled');
    await hand.press(words.links.full);
    await page.getByText('batch 1').waitFor();
    await found(1);
    await search(scene, '');
    await page.getByText(words.links.countAll(6), { exact: true }).waitFor();
  },
  'a file out, and in': async ({ hand, links, page, words }) => {
    const more = page.getByRole('button', { name: words.links.more });
    await hand.click(more);
    const saved = page.waitForEvent('download');
    await hand.press(words.links.export);
    const text = await Bun.file(await (await saved).path()).text();
    expect(text.trim().split('\n')).toHaveLength(7);
    await hand.click(more);
    await hand.press(words.links.import);
    const dialog = page.locator('dialog[open]');
    const buffer = Buffer.from('key,code,limit,note\na,,4,imported 1\nb,,x,wrong\nc,,2,=1+1\n');
    const file = { name: 'links.csv', mimeType: 'text/csv', buffer };
    await dialog.locator('input[type=file]').setInputFiles(file);
    await dialog.getByText(words.links.areWrong(1)).waitFor();
    await hand.press(words.links.createMany(2), dialog);
    await dialog.getByText(words.links.areReady(2)).waitFor();
    await hand.press(words.common.close, dialog);
    expect(await links()).toMatchObject({ 'imported 1': { install_limit: 4 } });
  },
  'many change, slots and codes end, in ten seconds, unless they are taken back': async (scene) => {
    const { hand, links, page, panel, words } = scene;
    const before = await links();
    const codeOf = (note: string) => before[note]?.install_code ?? '';
    for (const note of ['batch 3', 'batch 4', 'batch 5']) {
      for (const n of [1, 2]) await knock(site, codeOf(note), `${note} ${n}`.replace(/ /g, '-'));
    }
    await changeMany(scene);
    const jobs = page.locator('.jobs');
    // One that is freed, all of a link, a new code, and one that is taken back.
    const third = await panel('batch 3');
    await hand.click(third.getByRole('button', { name: words.link.free, exact: true }).first());
    await jobs.getByText(/batch-3/).waitFor();
    await hand.press(words.link.freeAll, await panel('batch 4'));
    await jobs.getByText(words.jobs.freeingAll).waitFor();
    const fifth = await panel('batch 5');
    await hand.press(words.link.revoke, fifth);
    await jobs.getByText(words.jobs.revoking).waitFor();
    await hand.press(words.link.freeAll, await panel('batch 1'));
    const undone = jobs.locator('li', { hasText: words.jobs.freeingAll });
    await undone.nth(1).waitFor();
    // The newest is the first.
    await hand.press(words.jobs.undo, undone.first());
    await undone.nth(1).waitFor({ state: 'detached' });
    expect((await links())['batch 3']?.install_count).toBe(2);
    const number = new Intl.NumberFormat(words.tag).format(1);
    await jobs.getByText(words.jobs.changed(number, number)).waitFor();
    await until('all has ended', async () => (await jobs.locator('li').count()) === 1);
    await hand.press(words.jobs.dismiss, jobs);
    await jobs.waitFor({ state: 'detached' });
    const after = await links();
    expect(after).toMatchObject({ 'imported 1': { install_limit: 9 } });
    const taken = [1, 3, 4, 5].map((n) => after[`batch ${n}`]?.install_count);
    expect(taken).toEqual([1, 1, 0, 0]);
    expect(after['batch 5']?.install_code).not.toBe(codeOf('batch 5'));
    expect(await knock(site, codeOf('batch 5'), 'batch-5-1')).toMatchObject({ rc: 0 });
  },
  'a refusal is explained, and the same phone replaced': async (scene) => {
    const { hand, links, panel, words } = scene;
    const code = (await links())['batch 1']?.install_code ?? '';
    const opened = await panel('batch 1');
    const why = opened.getByText(words.reasons.link_limit_reached).first();
    await until('the refusal is shown', async () => {
      if ((await why.count()) > 0) return true;
      await scene.page.reload();
      await opened.locator('.list').first().waitFor();
      return (await why.count()) > 0;
    });
    await opened.getByText(words.link.samePhone).waitFor();
    await hand.press(words.link.raise(new Intl.NumberFormat(words.tag).format(2)), opened);
    await opened.getByText(words.link.remedies.now).waitFor();
    expect(await knock(site, code, 'new')).toMatchObject({ rc: 1 });
  },
};

describe.each(TRIED)('links, %s', (locale, words) => {
  let scene: Scene;
  beforeAll(async () => {
    if (!HAS_CHROMIUM) return;
    const own = await addProvider(server);
    await ask(site, '/api/add-domain', own, { domain_hash: HASH });
    const visited = await visit({ browser, site }, '/console', { locale });
    await signInByKey(visited, words, own);
    const links: Scene['links'] = async () => {
      const { data } = await ask(site, '/api/list-install', own);
      return Object.fromEntries((data as Row[]).map((row) => [row.note ?? '', row]));
    };
    const panel: Scene['panel'] = async (note) => {
      await visited.page.goto(`${site}/console/links?link=${(await links())[note]?.id}`);
      const opened = visited.page.locator('.message-panel');
      await opened.locator('.facts').waitFor();
      return opened;
    };
    scene = { ...visited, words, own, links, panel };
  });
  afterAll(() => scene?.close());

  testChromium.each(Object.entries(FLOWS))('%s', async (_name, flow) => {
    await flow(scene);
    expect(scene.troubles).toEqual([]);
  });
});
