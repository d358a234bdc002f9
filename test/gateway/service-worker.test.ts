/** The service worker of docs/device-protocol.md does what the page says of it. */

import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Shown {
  text: string;
  options: Record<string, unknown>;
}

/** Runs the example with the names that a browser gives it. */
function startExample() {
  const docs = readFileSync(join(import.meta.dir, '../../docs/device-protocol.md'), 'utf8');
  const source = /```js\n(self\.addEventListener\('push'[\s\S]*?)```/.exec(docs)?.[1] ?? '';
  const handlers = new Map<string, (event: unknown) => void>();
  const shown: Shown[] = [];
  const acknowledged: unknown[] = [];
  const opened: string[] = [];
  const self = {
    addEventListener: (name: string, handle: (event: unknown) => void) =>
      handlers.set(name, handle),
    registration: {
      showNotification: async (text: string, options: Record<string, unknown>) =>
        void shown.push({ text, options }),
    },
  };
  const clients = { openWindow: async (url: string) => void opened.push(url) };
  const acknowledge = async (items: unknown) => void acknowledged.push(items);
  new Function('self', 'clients', 'acknowledge', source)(self, clients, acknowledge);
  const fire = async (name: string, event: object) => {
    let work: Promise<unknown> = Promise.resolve();
    const waitUntil = (given: Promise<unknown>) => {
      work = given;
    };
    handlers.get(name)?.({ ...event, waitUntil });
    await work;
  };
  return {
    shown,
    acknowledged,
    opened,
    push: (content: object) => fire('push', { data: { json: () => content } }),
    tap: ({ options }: Shown) =>
      fire('notificationclick', { notification: { ...options, close: () => {} } }),
  };
}

const CONTENT = { id: 7, kind: 'notification', body: 'Hello', urgent: false };

test('a notification is shown, and a tap acknowledges it by its id and opens its link', async () => {
  const { shown, acknowledged, opened, push, tap } = startExample();
  await push({ ...CONTENT, title: 'News', link: 'https://a.example/' });
  expect(shown).toMatchObject([{ text: 'News', options: { body: 'Hello', tag: '7' } }]);
  for (const each of shown) await tap(each);
  expect(acknowledged).toEqual([[{ id: 7, state: 'opened' }]]);
  expect(opened).toEqual(['https://a.example/']);
});

test('a notification without a title, a command and a test of the operator are shown too', async () => {
  const { shown, acknowledged, opened, push, tap } = startExample();
  await push(CONTENT);
  await push({ id: 8, kind: 'command' });
  await push({ ...CONTENT, id: 0, title: 'Test' });
  expect(shown.map(({ text, options }) => [text, options['body']])).toEqual([
    ['Hello', ''],
    ['A message from your provider', ''],
    ['Test', 'Hello'],
  ]);
  for (const each of shown.slice(2)) await tap(each);
  expect(acknowledged).toEqual([]);
  expect(opened).toEqual(['/']);
});
