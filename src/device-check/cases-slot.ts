/** Cases about the slot: its end, a full link, and a server that a subscription names. */

import { ENDED_TEXT } from './answers.ts';
import type { Case, Scene } from './scene.ts';
import { DISCOVERED_BASE } from './stage.ts';

/** Expects that the app tells the end of its slot to its user, and does not register by itself. */
async function endsWith(scene: Scene, ...words: readonly string[]): Promise<void> {
  await scene.shows('refused', ...words);
  await scene.rests('went on by itself after its slot had ended');
}

/** The refusal of a registration by the limit of a link. */
const FULL = {
  rc: 0,
  msg: 'Install limit reached',
  reason: 'link_limit_reached',
  text: 'Three devices use this link.',
  limit: 17,
  free_url: 'https://sub.example.com/my',
};

const SUBSCRIPTION = '/sub/CheckKey0001?client=check';

export const SLOT_CASES: readonly Case[] = [
  {
    name: 'slot-freed',
    should:
      'end when its slot was freed, with the text for its user, and register for nothing but a new run',
    needsDriver: true,
    async play(scene) {
      const { stage, driver } = scene;
      await scene.begin();
      stage.endSlot('slot_freed');
      await endsWith(scene, 'slot_freed', ENDED_TEXT);
      driver?.say({ do: 'push_token', gateway: 'fcm', token: 'other-token' });
      await scene.rests('registered again for a new push address');
      const before = stage.deeds.length;
      await driver?.restart();
      const isAsked = () => stage.of('register', before).length > 0;
      await scene.back(isAsked, 'did not register when its user started it again');
      const [asked] = stage.of('register', before);
      scene.check(asked?.token === null, 'kept a token that had ended');
    },
  },
  {
    name: 'slot-freed-away',
    should: 'notice at its start that its slot was freed meanwhile, and not register',
    needsDriver: true,
    async play(scene) {
      const { stage, driver } = scene;
      await scene.begin();
      await driver?.kill();
      const before = stage.deeds.length;
      stage.endSlot('slot_freed');
      driver?.start();
      await scene.back(() => driver?.states.includes('refused') === true, 'did not notice it');
      await endsWith(scene, 'slot_freed', ENDED_TEXT);
      const isNew = stage.of('register', before).some(({ token }) => token === null);
      scene.check(!isNew, 'registered again by itself');
    },
  },
  {
    name: 'slot-freed-poll',
    should: 'end when the answer to a poll says that its link ended',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      await scene.beginPolling();
      stage.endSlot('link_ended');
      await endsWith(scene, 'link_ended', ENDED_TEXT);
    },
  },
  {
    name: 'close-4004',
    should: 'end when the stream ends with 4004, though no text came before it',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.endSlot('link_replaced', false);
      await endsWith(scene, 'link_replaced');
    },
  },
  {
    name: 'ended',
    should: 'tell its user that one of its places ended, keep its stream, and not register',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.stage.tellEnded('link_disabled');
      await scene.shows('ended', 'link_disabled', ENDED_TEXT);
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
      scene.check(scene.stage.of('stream').length === 1, 'left its stream');
      scene.check(scene.stage.of('register').length === 1, 'registered again');
    },
  },
  {
    name: 'ended-poll',
    should: 'tell its user that one of its places ended, and poll on',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      await scene.beginPolling();
      stage.tellEnded('slot_freed');
      await scene.shows('ended', 'slot_freed', ENDED_TEXT);
      stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
      scene.check(stage.of('register').length === 1, 'registered again');
    },
  },
  {
    name: 'limit',
    should:
      'hand over why a full link refused it, the text in its language, the limit, and where to free a slot',
    needsDriver: true,
    async play(scene) {
      scene.stage.script.register = () => Response.json(FULL);
      scene.driver?.start({ locale: 'fa' });
      const isTold = () => scene.driver?.states.includes('refused') === true;
      await scene.expect(isTold, 30, 'did not tell its user');
      await scene.shows('refused', FULL.reason, FULL.text, String(FULL.limit), FULL.free_url);
      const language = scene.stage.of('register')[0]?.language ?? '';
      scene.check(/^fa\b/.test(language), `asked for texts in "${language}", not in its language`);
      await scene.rests('registered again');
    },
  },
  {
    name: 'discovery',
    should: 'register by its subscription at the path that the answer names, and at no other host',
    needsDriver: true,
    async play(scene) {
      const { stage, driver } = scene;
      const answer = (server: string) => ({
        subscription: { url: stage.url + SUBSCRIPTION, headers: { 'x-device-server': server } },
      });
      await scene.begin(answer(DISCOVERED_BASE));
      const body = stage.of('register')[0]?.body ?? {};
      const named = [stage.url + SUBSCRIPTION, SUBSCRIPTION];
      const isNamed = named.includes(String(body['subscription_url']));
      scene.check(isNamed, 'registered without subscription_url');
      const { install_code: code, domain_hash: hash } = body;
      scene.check(code === undefined && hash === undefined, 'sent a link or the hash of a domain');
      stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      scene.check(!stage.bases.has('/device'), 'called a path that the answer did not name');
      driver?.say({ do: 'headers' });
      await scene.expect(() => driver?.headers != null, 10, 'has no headers');
      const version = driver?.headers?.['x-device-protocol'];
      scene.check(version === '1', `fetches a subscription with x-device-protocol: ${version}`);
      await driver?.reinstall();
      const before = stage.deeds.length;
      // The same port by another name.
      driver?.start(answer(`//localhost:${new URL(stage.url).port}${DISCOVERED_BASE}`));
      const isOver = () => driver?.foundNothing === true || stage.of('register', before).length > 0;
      await scene.back(isOver, 'did not say that the answer names no server');
      scene.check(driver?.foundNothing === true, 'took a server of another host');
    },
  },
];
