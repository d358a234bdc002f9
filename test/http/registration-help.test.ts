/** A refused registration says why, in the language of the person, and where a slot is freed. */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import type { Credentials } from '../../src/core/provider.ts';
import { ACT } from '../support/actor.ts';
import { seedProvider, startTestApp, type TestApp } from '../support/app.ts';
import { byLink, register } from '../support/messaging.ts';
import { addLink, bind } from '../support/shop.ts';

const CODE = 'LinkCode0001';
const PAGE = 'https://sub.example.com';

let app: TestApp;
let own: Credentials;
beforeEach(async () => {
  app = await startTestApp({}, (core) => ({
    ...core,
    limits: { ...core.limits, myUrl: PAGE, myPath: '/my' },
  }));
  own = await seedProvider(app);
  await bind(app, own);
  await addLink(app, own, CODE, 1);
  await register(app, byLink('first', CODE));
});
afterEach(() => app.close());

const refused = async (language: string) => {
  const headers = { 'accept-language': language, 'content-type': 'application/json' };
  const body = JSON.stringify({ ...byLink('second', CODE), os: 'android' });
  const answer = await fetch(`${app.url}/device/register`, { method: 'POST', headers, body });
  return (await answer.json()) as Record<string, unknown>;
};

test('with the limit, and without a page where the provider has none', async () => {
  expect(await refused('ru-RU,ru;q=0.9')).toEqual({
    rc: 0,
    msg: 'Install limit reached',
    reason: 'link_limit_reached',
    text: 'Достигнут лимит устройств. Чтобы заменить устройство, напишите в поддержку.',
    limit: 1,
  });
});

test('with the page of the link where the provider has switched it on', async () => {
  await app.core.store.updateProvider(own.code, { my: 1 }, ACT);
  for (const language of ['en', 'ru', 'zh', 'fa']) {
    const answer = await refused(language);
    expect(answer).toMatchObject({ limit: 1, free_url: `${PAGE}/my?link=${CODE}` });
  }
  const texts = await Promise.all(
    ['en', 'ru', 'zh', 'fa'].map(async (l) => (await refused(l))['text']),
  );
  expect(new Set(texts).size).toBe(4);
});

test('in English for another language', async () => {
  expect((await refused('tlh'))['text']).toContain('Device limit reached');
});
