/** Cases about messages: repeated, out of order, unknown, and pushed before or after. */

import { UNKNOWN } from './answers.ts';
import type { Case } from './scene.ts';

const command = (action: string, more: Record<string, unknown> = {}) => ({
  notification_type: 20,
  payload: { action_type: action, ...more },
});

/** The data that the system gives to an app with a push. */
const pushOf = (id: number, more: Record<string, unknown> = {}) => ({
  id: String(id),
  kind: 'notification',
  title: 'Hello',
  body: `text ${id}`,
  ...more,
});

export const MESSAGE_CASES: readonly Case[] = [
  {
    name: 'message',
    should: 'handle a message once and acknowledge it as received, a command as executed',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1), scene.message(2, command('update-subscription')));
      await scene.acknowledged('received', 1);
      await scene.acknowledged('executed', 2);
      await scene.handledAs([1, 2]);
    },
  },
  {
    name: 'twice',
    should: 'drop a message whose id was seen, and acknowledge it again',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      scene.stage.repeat(scene.message(1));
      const isAgain = () => scene.acked().length >= 2;
      await scene.expect(isAgain, 60, 'did not acknowledge the second copy');
      await scene.handledAs([1]);
    },
  },
  {
    name: 'order',
    should: 'handle messages in the order in which they come, whatever their ids',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(12), scene.message(11));
      await scene.acknowledged('received', 12, 11);
      await scene.handledAs([12, 11]);
    },
  },
  {
    name: 'many',
    should: 'acknowledge at most 100 messages in one request, and all of them',
    async play(scene) {
      await scene.begin();
      const ns = Array.from({ length: 250 }, (_, at) => at + 1);
      // The app sends unconfirmed acknowledgements again together.
      scene.stage.script.ignoresFrames = true;
      scene.stage.send(...ns.map((n) => scene.message(n)));
      await scene.acknowledged('received', ...ns);
      scene.stage.script.ignoresFrames = false;
      const before = scene.stage.deeds.length;
      scene.stage.close(1001, 'the server stops');
      const isAgain = () => scene.stage.acked(before).length >= ns.length;
      await scene.back(isAgain, 'did not acknowledge again what was not confirmed');
      const most = Math.max(...scene.stage.of('ack', scene.mark).map(({ items }) => items.length));
      scene.check(most <= 100, `acknowledged ${most} messages in one request`);
      await scene.handledAs(ns);
    },
  },
  {
    name: 'unknown-field',
    should: 'ignore fields that it does not know',
    async play(scene) {
      await scene.begin();
      const payload = { body: 'text', mood: { colour: 'blue' } };
      scene.stage.send(scene.message(1, { payload, priority: [1, null, 'high'] }));
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'unknown-action',
    should: 'acknowledge an action that it does not know as failed',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1, command('paint-it-blue')));
      await scene.acknowledged('failed', 1);
      await scene.handledAs([]);
    },
  },
  {
    name: 'unknown-type',
    should: 'acknowledge a type of message that it does not know as failed',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1, { notification_type: 30 }));
      await scene.acknowledged('failed', 1);
      await scene.handledAs([]);
    },
  },
  {
    name: 'expiry',
    should: 'leave it to the server when a message expires: clocks of phones are wrong',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1, { expires_at: '2020-01-01 00:00:00' }));
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'texts',
    should: 'show the text of its language, plain: without tags, with entities read',
    needsDriver: true,
    async play(scene) {
      await scene.begin({ locale: 'pt-BR' });
      const body = '<b>Tom</b> &amp; Ann<br>second &lt;line&gt;';
      const payload = { title: 'No', body: 'no', locales: { RU: { body: 'no' }, pt: { body } } };
      scene.stage.send(scene.message(1, { payload }));
      await scene.acknowledged('received', 1);
      await scene.heard();
      const text = scene.driver?.handled.at(-1)?.text;
      scene.check(text === 'Tom & Ann\nsecond <line>', `showed ${JSON.stringify(text)}`);
    },
  },
  {
    name: 'push-first',
    should: 'not show a message again that the system has shown as a push',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.driver?.say({ do: 'push', shown: true, data: pushOf(scene.id(1)) });
      await scene.acknowledged('received', 1);
      scene.stage.send(scene.message(1), scene.message(2));
      await scene.acknowledged('received', 2);
      await scene.handledAs([2]);
    },
  },
  {
    name: 'push-later',
    should: 'not handle a push of a message that the stream has brought',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      const message = JSON.stringify({ ...scene.message(1), notification_type: 10, payload: {} });
      scene.driver?.say({ do: 'push', shown: false, data: pushOf(scene.id(1), { message }) });
      scene.stage.send(scene.message(2));
      await scene.acknowledged('received', 2);
      await scene.handledAs([1, 2]);
    },
  },
  {
    name: 'push-test',
    should: 'acknowledge nothing for a push with the id 0: it is a test of the operator',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.driver?.say({ do: 'push', shown: true, data: pushOf(0) });
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      const isZero = () => scene.acked().some(({ id }) => id === 0);
      await scene.never(isZero, 3, 'acknowledged the id 0');
    },
  },
  {
    name: 'push-inside',
    should: 'handle a message that travels in a push that was not shown',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      const message = { ...scene.message(1), notification_type: 10, payload: { body: 'text' } };
      scene.driver?.say({ do: 'push', shown: false, data: pushOf(scene.id(1), { message }) });
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'opened',
    should: 'acknowledge as opened what the user opened',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      scene.driver?.say({ do: 'opened', id: scene.id(1) });
      await scene.acknowledged('opened', 1);
    },
  },
  {
    name: 'large',
    should: 'take a message of 96 KiB, which is alone in its frame',
    async play(scene) {
      await scene.begin();
      const input = Buffer.alloc(72 * 1_024, 'a').toString('base64');
      scene.stage.send(scene.message(1, command('import-data', { 'input-data': input })));
      await scene.acknowledged('executed', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'stub',
    should: 'fetch by its id a message that came as a stub, and acknowledge it only then',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      await scene.begin({ frameMax: 2_048 });
      const asked = stage.of('stream')[0]?.frameMax;
      scene.check(asked === 2_048, `asked for frames of ${asked} bytes`);
      const isAway = { is: true };
      stage.script.inbox = () => (isAway.is ? Response.json(UNKNOWN) : null);
      stage.send(scene.message(1, { payload: LONG }), scene.message(2));
      const isFetched = () => stage.of('inbox').some(({ id }) => id === scene.id(1));
      await scene.expect(isFetched, 60, 'did not fetch the message of a stub by its id');
      const isAcked = () => scene.acked().some(({ id }) => id === scene.id(1));
      await scene.never(isAcked, 3, 'acknowledged a stub whose message it did not have');
      isAway.is = false;
      stage.close(1001, 'the server stops');
      await scene.acknowledged('received', 1, 2);
      await scene.heard();
      const shown = scene.driver?.handled.find(({ id }) => id === scene.id(1));
      scene.check(shown?.text === LONG.body, 'did not show the text of the message');
      const handled = scene.handled().toSorted((a, b) => a - b);
      scene.check(handled.join() === '1,2', `handled ${handled.join(', ')}`);
    },
  },
  {
    name: 'stub-gone',
    should: 'drop a stub whose message is gone, and keep the order of the others',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      await scene.begin({ frameMax: 2_048 });
      stage.repeat(scene.message(1, { payload: LONG }));
      stage.send(scene.message(2, { payload: LONG }), scene.message(3));
      await scene.acknowledged('received', 2, 3);
      await scene.handledAs([2, 3]);
      const isAcked = scene.acked().some(({ id }) => id === scene.id(1));
      scene.check(!isAcked, 'acknowledged a message that it never had');
    },
  },
];

/** The payload of a message that is larger than the frames of these cases. */
const LONG = { body: 'long '.repeat(800).trim() };
