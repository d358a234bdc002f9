/** Cases about connections: silence, servers that stop, truncated answers. */

import { UNKNOWN } from './answers.ts';
import type { Case, Scene } from './scene.ts';

const cutAnswer = () =>
  new Response('{"rc":1,"msg":"O', { headers: { 'content-type': 'application/json' } });

const pageOfProxy = () =>
  new Response('<html><h1>502 Bad Gateway</h1></html>', {
    status: 502,
    headers: { 'content-type': 'text/html' },
  });

/** Fails the first registrations; the app must pause before each next one. */
async function registersAfter(scene: Scene, count: number, wrong: () => Response): Promise<void> {
  let left = count;
  scene.stage.script.register = () => (left-- > 0 ? wrong() : null);
  scene.driver?.start();
  await scene.opened('did not register after the fault had passed');
  const times = scene.stage.of('register').map(({ atMs }) => atMs);
  for (let at = 1; at < times.length; at++) {
    const pauseMs = (times[at] ?? 0) - (times[at - 1] ?? 0);
    scene.check(pauseMs >= scene.leastPauseMs(at - 1), 'asked again without a growing pause');
  }
}

const closing = (code: number): Case => ({
  name: `close-${code}`,
  should: `come back after a pause when the stream ends with ${code}`,
  async play(scene) {
    await scene.begin();
    await scene.comesBack(() => scene.stage.close(code, 'as the check says'));
    scene.stage.send(scene.message(1));
    await scene.acknowledged('received', 1);
  },
});

export const LINE_CASES: readonly Case[] = [
  {
    name: 'silence',
    should:
      'close a stream that died in silence after 30 seconds (two of its pings and ten), and come back',
    async play(scene) {
      await scene.begin();
      const before = scene.stage.of('stream').length;
      scene.stage.script.isSilent = true;
      const isBack = () => scene.stage.of('stream').length > before;
      const { pingSeconds } = scene.stage;
      const seconds = pingSeconds > 9 ? 2 * pingSeconds + 25 : 45;
      await scene.expect(isBack, seconds, 'went on waiting on a stream that was silent');
      scene.stage.script.isSilent = false;
      await scene.opened('came back without a stream');
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
    },
  },
  ...[1001, 1008, 1009, 1011, 1013, 4003].map(closing),
  {
    name: 'pauses',
    should: 'wait twice as long after each failure',
    async play(scene) {
      for (const [at, pauseMs] of (await scene.pauses(5)).entries()) {
        const leastMs = scene.leastPauseMs(at);
        scene.check(
          pauseMs >= leastMs,
          `waited ${Math.round(pauseMs)} ms before attempt ${at + 1}, not ${Math.round(leastMs)}`,
        );
      }
    },
  },
  {
    name: 'cut-answer',
    should: 'register again after a pause when the answer broke off',
    needsDriver: true,
    play: (scene) => registersAfter(scene, 1, cutAnswer),
  },
  {
    name: 'lost-registration',
    should: 'register again each time that the answer is lost by which its token was renewed',
    needsDriver: true,
    async play(scene) {
      const { stage, driver } = scene;
      await scene.begin({ push: { gateway: 'fcm', token: 'first-token' } });
      for (const token of ['second-token', 'third-token']) {
        let isLost = false;
        stage.script.register = () => {
          if (isLost) return null;
          isLost = true;
          stage.killToken();
          return cutAnswer();
        };
        driver?.say({ do: 'push_token', gateway: 'fcm', token });
        await scene.back(() => isLost, `did not register the new push address ${token}`);
        const isBack = () => stage.token !== null && stage.isOpen;
        await scene.back(isBack, 'took its own registration for that of another device');
      }
    },
  },
  {
    name: 'page-of-proxy',
    should: 'register again after a pause when a proxy answered with a page',
    needsDriver: true,
    play: (scene) => registersAfter(scene, 2, pageOfProxy),
  },
  {
    name: 'too-many-requests',
    should: 'register again after growing pauses when the server says Too many requests',
    needsDriver: true,
    play: (scene) =>
      registersAfter(scene, 3, () =>
        Response.json({ rc: 0, msg: 'Too many requests' }, { status: 429 }),
      ),
  },
  {
    name: 'cut-frame',
    should: 'live on, and get its messages, after a frame that is half a text',
    async play(scene) {
      await scene.begin();
      scene.stage.sendText('{"rc":1,"msg":"Ok","da');
      // An app may close such a stream or keep it.
      await scene.never(() => !scene.stage.isOpen, 0.2, '').catch(() => {});
      await scene.opened('did not come back');
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'lost-acknowledgement',
    should: 'acknowledge again on the next stream what the server did not confirm',
    async play(scene) {
      await scene.begin();
      scene.stage.script.ignoresFrames = true;
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      scene.stage.script.ignoresFrames = false;
      // The message has expired meanwhile: no copy of it comes again.
      scene.stage.forget(scene.id(1));
      scene.mark = scene.stage.deeds.length;
      scene.stage.close(1001, 'the server stops');
      await scene.acknowledged('received', 1);
    },
  },
  {
    name: 'confirmed',
    should: 'not acknowledge again what the server has confirmed',
    async play(scene) {
      await scene.begin();
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      scene.stage.send(scene.message(2));
      await scene.acknowledged('received', 2);
      scene.mark = scene.stage.deeds.length;
      await scene.comesBack(() => scene.stage.close(1001, 'the server stops'));
      scene.stage.send(scene.message(3));
      await scene.acknowledged('received', 3);
      const again = scene.acked().some(({ id }) => id === scene.id(1));
      scene.check(!again, 'acknowledged message 1 again');
    },
  },
  {
    name: 'malformed',
    should: 'not send a frame again and again that the server refuses with 1007',
    async play(scene) {
      await scene.begin();
      scene.stage.script.refusesFrames = true;
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      // No copy of the message comes again.
      scene.stage.forget(scene.id(1));
      const isTooMuch = () => scene.acked().length > 3;
      await scene.never(isTooMuch, 10, 'sent a refused acknowledgement more than three times');
      scene.stage.script.refusesFrames = false;
      await scene.opened('did not come back');
    },
  },
  {
    name: 'acknowledgement-later',
    should: 'send acknowledgements later when the call fails, with pauses, and lose none',
    needsDriver: true,
    async play(scene) {
      let failures = 3;
      scene.stage.script.ack = () => (failures-- > 0 ? Response.json(UNKNOWN) : null);
      scene.driver?.start({ mode: 'poll' });
      await scene.expect(() => scene.stage.of('inbox').length > 0, 60, 'did not ask the inbox');
      scene.stage.send(scene.message(1));
      await scene.expect(() => failures < 0, 60, 'did not acknowledge again');
      const times = scene.stage.of('ack').map(({ atMs }) => atMs);
      const least = Math.min(...times.slice(1, 4).map((atMs, at) => atMs - (times[at] ?? 0)));
      scene.check(least >= scene.leastPauseMs(0), 'acknowledged again without a pause');
      await scene.handledAs([1]);
    },
  },
  {
    name: 'poll',
    should: 'get messages by polls that wait, one after the other',
    needsDriver: true,
    async play(scene) {
      scene.driver?.start({ mode: 'poll' });
      const isPolled = () => scene.stage.of('inbox').some(({ waitSeconds }) => waitSeconds > 0);
      await scene.expect(isPolled, 60, 'sent no poll that waits');
      scene.stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      scene.stage.send(scene.message(2));
      await scene.acknowledged('received', 2);
      await scene.handledAs([1, 2]);
      scene.check(scene.stage.of('stream').length === 0, 'opened a stream');
    },
  },
  {
    name: 'stop',
    should: 'end at once when its user closes it, and ask for nothing afterwards',
    needsDriver: true,
    async play(scene) {
      await scene.begin();
      scene.driver?.say({ do: 'stop' });
      await scene.expect(() => scene.driver?.hasStopped === true, 1, 'did not say that it stopped');
      await scene.expect(() => !scene.stage.isOpen, 1, 'left its stream open');
      await scene.rests('asked again after it was closed');
    },
  },
];
