import { expect, test } from 'bun:test';
import type { NewBrowser } from '../../../src/core/port/browser.ts';
import { COMMAND } from '../../../src/core/port/distribution.ts';
import type { Store } from '../../../src/core/port/store.ts';
import { ACT } from '../../support/actor.ts';
import { addDoor, CODE, HASH, knock, NOW_MS, OTHER_CODE, type Suite } from './fixture.ts';
import {
  deliver,
  draft,
  EXPIRES_MS,
  IMPORT_DATA,
  ledgerOf,
  to,
  tokenHash,
} from './message-fixture.ts';
import type { Race } from './race.ts';

type Method = 'registerBrowser' | 'endBrowsers' | 'countBrowsers' | 'findBrowser' | 'listNews';

const PUSH_TO = {
  gateway: 'webpush',
  token: { endpoint: 'https://push.example/1', keys: {} },
} as const;
const FACTS = {
  os: 'android',
  osVersion: '',
  deviceName: 'Chrome',
  appVersion: '',
  userAgent: 'browser',
};

/** A browser by the word of its token. */
const browser = (installId: number, word: string, more: Partial<NewBrowser> = {}): NewBrowser => ({
  installId,
  hwid: `web-${word}`,
  facts: FACTS,
  locale: 'ru',
  push: PUSH_TO,
  nowMs: NOW_MS,
  tokenHash: tokenHash(word),
  heldTokenHash: null,
  countMax: 5,
  ...more,
});

async function addPage(store: Store, code = 'Provide1', installCode = CODE) {
  const door = await addDoor(store, code, installCode);
  await store.updateProvider(code, { my: 1 }, ACT);
  return door;
}

const words = (n: number) => Array.from({ length: n }, (_, at) => `browser-${at}`);

/** Ten people who open the page of one link at once. */
export const BROWSER_RACES: Readonly<Record<string, Race>> = {
  'of browsers for five places of a link': {
    async given(store) {
      const { installId } = await addPage(store);
      return { installId };
    },
    callCount: 30,
    call: (store, { installId = 0 }, n) => store.registerBrowser(browser(installId, `race-${n}`)),
    async check(store, { installId = 0 }, answers) {
      expect(answers.filter((answer) => answer === 'ok')).toHaveLength(5);
      expect(await store.countBrowsers(installId)).toBe(5);
    },
  },
};

export const browserContract: Record<Method, Suite> = {
  registerBrowser: (opened) => {
    test('takes no slot, and gets notifications to its system, but no commands', async () => {
      const { store } = opened();
      const { installId, providerId } = await addPage(store);
      await knock(store, 'phone');
      expect(await store.registerBrowser(browser(installId, 'one'))).toBe('ok');
      expect(await store.findLinkById(installId)).toMatchObject({ deviceCount: 1 });
      const [named] = await store.findTargets(providerId, ['web-one']);
      expect(named).toMatchObject({ isLinked: true, isBrowser: true, isReachable: true });
      expect((await store.scanTargets(providerId, ['android'], null)).count).toBe(2);
      expect((await store.scanTargets(providerId, ['android'], null, true)).count).toBe(1);
      const news = await deliver(store, providerId, { targetOs: 'android', targetHwid: '' });
      const command = await deliver(store, providerId, {
        notificationType: COMMAND,
        targetOs: 'android',
        targetHwid: '',
      });
      const both = await deliver(store, providerId, {
        notificationType: COMMAND,
        ...to('phone', 'web-one'),
      });
      expect(Object.keys(await ledgerOf(store, news)).sort()).toEqual(['phone', 'web-one']);
      expect(Object.keys(await ledgerOf(store, command))).toEqual(['phone']);
      expect(Object.keys(await ledgerOf(store, both))).toEqual(['phone']);
    });

    test('keeps its place with its token, and leaves the place on another link', async () => {
      const { store } = opened();
      const one = await addPage(store);
      const two = await addPage(store, 'Provide2', OTHER_CODE);
      await store.registerBrowser(browser(one.installId, 'first'));
      const again = { heldTokenHash: tokenHash('first'), hwid: 'web-unused' };
      expect(await store.registerBrowser(browser(one.installId, 'second', again))).toBe('ok');
      expect(await store.countBrowsers(one.installId)).toBe(1);
      expect(await store.findBrowser(tokenHash('first'))).toBeNull();
      expect(await store.findBrowser(tokenHash('second'))).toEqual({ installId: one.installId });
      const held = { heldTokenHash: tokenHash('second') };
      expect(await store.registerBrowser(browser(two.installId, 'third', held))).toBe('ok');
      expect(await store.countBrowsers(one.installId)).toBe(0);
      expect(await store.findBrowser(tokenHash('second'))).toBeNull();
      expect(await store.findBrowser(tokenHash('third'))).toEqual({ installId: two.installId });
    });

    test('refuses a sixth, and a link whose page is shut', async () => {
      const { store } = opened();
      const { installId, providerId } = await addPage(store);
      for (const word of words(5)) {
        expect(await store.registerBrowser(browser(installId, word))).toBe('ok');
      }
      expect(await store.registerBrowser(browser(installId, 'sixth'))).toBe(
        'browser_limit_reached',
      );
      expect(await store.findDeviceByToken(tokenHash('sixth'))).toBeNull();
      await store.updateProvider('Provide1', { my: 0 }, ACT);
      expect(await store.registerBrowser(browser(installId, 'seventh'))).toBe('link_not_found');
      await store.updateProvider('Provide1', { my: 1 }, ACT);
      await store.updateLink(providerId, installId, { status: 5 }, ACT);
      expect(await store.registerBrowser(browser(installId, 'eighth'))).toBe('link_not_found');
      expect(await store.registerBrowser(browser(999, 'ninth'))).toBe('link_not_found');
    });
  },

  endBrowsers: (opened) => {
    test('ends one by its token, or all of a link', async () => {
      const { store } = opened();
      const { installId } = await addPage(store);
      const other = await addPage(store, 'Provide2', OTHER_CODE);
      await store.registerBrowser(browser(other.installId, 'other'));
      for (const word of words(3)) await store.registerBrowser(browser(installId, word));
      expect(await store.endBrowsers(installId, tokenHash('other'))).toBe(0);
      expect(await store.endBrowsers(installId, tokenHash('browser-0'))).toBe(1);
      expect(await store.findDeviceByToken(tokenHash('browser-0'))).toBeNull();
      expect(await store.endBrowsers(installId, null)).toBe(2);
      expect(await store.countBrowsers(installId)).toBe(0);
      expect(await store.countBrowsers(other.installId)).toBe(1);
      expect(await store.endBrowsers(installId, null)).toBe(0);
    });
  },

  countBrowsers: (opened) => {
    const ends = {
      disabled: (store: Store, { providerId, installId }: Door) =>
        store.updateLink(providerId, installId, { status: 5 }, ACT),
      revoked: (store: Store, { providerId, installId }: Door) =>
        store.revokeLink(providerId, installId, 'NewCode00001', ACT),
      removed: (store: Store, { providerId, installId }: Door) =>
        store.removeLink(providerId, installId, ACT),
    };
    type Door = { providerId: number; installId: number };

    test.each(Object.entries(ends))('is none of a link that is %s', async (_, end) => {
      const { store } = opened();
      const door = await addPage(store);
      for (const word of words(2)) await store.registerBrowser(browser(door.installId, word));
      expect(await store.countBrowsers(door.installId)).toBe(2);
      await end(store, door);
      expect(await store.countBrowsers(door.installId)).toBe(0);
      expect(await store.findBrowser(tokenHash('browser-0'))).toBeNull();
      expect(await store.findDeviceByToken(tokenHash('browser-0'))).toBeNull();
      const [device] = await store.findTargets(door.providerId, ['web-browser-0']);
      expect(device?.isLinked ?? false).toBe(false);
    });

    test('falls with a device that the operator forgets', async () => {
      const { store } = opened();
      const { installId } = await addPage(store);
      await store.registerBrowser(browser(installId, 'one'));
      expect(await store.forgetDevice('web-one', ACT)).toBe('ok');
      expect(await store.countBrowsers(installId)).toBe(0);
    });
  },

  findBrowser: (opened) => {
    test('finds none by the token of another device', async () => {
      const { store } = opened();
      await addPage(store);
      expect(await store.findBrowser(tokenHash('nothing'))).toBeNull();
      const shown = { kind: 'link' as const, installCode: CODE, domainHash: HASH };
      await store.registerDevice({
        hwid: 'phone',
        facts: FACTS,
        locale: null,
        push: null,
        shown,
        nowMs: NOW_MS,
        tokenHash: tokenHash('phone'),
        heldTokenHash: null,
      });
      expect(await store.findBrowser(tokenHash('phone'))).toBeNull();
    });
  },

  listNews: (opened) => {
    test('has what the browser got since it began, acknowledged or not, until it expires', async () => {
      const { store } = opened();
      const { installId, providerId } = await addPage(store);
      await knock(store, 'phone');
      const toAll = { targetOs: 'android', targetHwid: '' };
      await deliver(store, providerId, toAll);
      await store.registerBrowser(browser(installId, 'one'));
      const payload = JSON.stringify({ body: 'x' });
      const one = await deliver(store, providerId, { ...toAll, payload });
      const two = await deliver(store, providerId, { ...toAll, payload });
      await deliver(store, providerId, { ...draft(providerId), ...toAll, ...IMPORT_DATA });
      const ids = async (nowMs = NOW_MS, countMax = 20) =>
        (await store.listNews(tokenHash('one'), nowMs, countMax)).map(({ id }) => id);
      expect(await ids()).toEqual([two, one]);
      const holder = await store.findDeviceByToken(tokenHash('one'));
      if (holder === null) throw new Error('the browser has no token');
      const items = [{ id: two, state: 'opened' as const, detail: null }];
      const reader = { id: holder.id, tokenHash: tokenHash('one') };
      expect(await store.acknowledge(reader, items, NOW_MS)).toHaveLength(1);
      expect(await ids()).toEqual([two, one]);
      expect(await ids(NOW_MS, 1)).toEqual([two]);
      expect(await ids(EXPIRES_MS)).toEqual([]);
      expect(await store.listNews(tokenHash('other'), NOW_MS, 20)).toEqual([]);
      await store.endBrowsers(installId, null);
      expect(await ids()).toEqual([]);
    });
  },
};
