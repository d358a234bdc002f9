/** Cases about times: pauses, waits, and bounds of waiting. */

import { type Case, type Scene, Skipped } from './scene.ts';

/** How far a pause without chance may be from what the others tell: a part of it, and ms. */
const PAUSE_PART = 0.02;
const PAUSE_MS = 4;
/** The most that an attempt itself takes, ms. */
const ATTEMPT_MS = 40;

/** Returns whether pauses double without any chance in them, whatever the first one is. */
function isRegular(pausesMs: readonly number[]): boolean {
  const last = pausesMs.length - 1;
  const [firstMs = 0, lastMs = 0] = [pausesMs[0], pausesMs[last]];
  // Each pause is a first one, doubled, and the time of an attempt.
  const doubledMs = (lastMs - firstMs) / (2 ** last - 1);
  const attemptMs = firstMs - doubledMs;
  if (attemptMs < -PAUSE_MS || attemptMs > ATTEMPT_MS) return false;
  return pausesMs.every((ms, at) => {
    const toldMs = doubledMs * 2 ** at + attemptMs;
    return Math.abs(ms - toldMs) <= PAUSE_PART * toldMs + PAUSE_MS;
  });
}

/** Expects that the app gives up waiting for an answer after 30 seconds, and does it again. */
const givesUp = (scene: Scene, isSo: () => boolean) =>
  scene.expect(isSo, 45, 'waited without a bound for the answer to an acknowledgement');

export const TIME_CASES: readonly Case[] = [
  {
    name: 'jitter',
    should: 'multiply each pause by a random number: apps must not come back all at once',
    async play(scene) {
      const isOne = isRegular(await scene.pauses(5));
      scene.check(!isOne, 'doubled its pauses without any chance in them');
    },
  },
  {
    name: 'pauses-reset',
    should: 'begin with the first pause again after a stream that held for ten seconds',
    async play(scene) {
      await scene.pauses(5);
      scene.stage.script = {};
      await scene.steady();
      const before = scene.stage.of('stream').length;
      const mostMs = scene.leastPauseMs(6);
      scene.stage.close(1001, 'the server stops');
      const isBack = () => scene.stage.of('stream').length > before;
      const isSoon = await scene.stage.until(isBack, mostMs);
      scene.check(
        isSoon,
        `was not back after ${Math.round(mostMs)} ms, as if the failures went on`,
      );
      await scene.opened('came back without a stream');
    },
  },
  {
    name: 'unanswered',
    should:
      'wait 30 seconds for the answer to an acknowledgement, then close the stream and come back',
    async play(scene) {
      const { stage } = scene;
      await scene.begin();
      stage.script.ignoresFrames = true;
      stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      const before = stage.of('stream').length;
      await givesUp(scene, () => !stage.isOpen || stage.of('stream').length > before);
      stage.script.ignoresFrames = false;
      scene.mark = stage.deeds.length;
      await scene.acknowledged('received', 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'unanswered-call',
    should: 'wait 30 seconds for the answer to a call that acknowledges, then ask again',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      let calls = 0;
      stage.script.ack = () => {
        calls += 1;
        return calls === 1 ? new Promise<Response>(() => {}) : null;
      };
      scene.driver?.start({ mode: 'poll' });
      await scene.back(() => stage.of('inbox').length > 0, 'did not ask the inbox');
      stage.send(scene.message(1));
      await scene.acknowledged('received', 1);
      await givesUp(scene, () => calls > 1);
      await scene.handledAs([1]);
    },
  },
  {
    name: 'ping-interval',
    should:
      'wait for two of the intervals that x-ping-interval names and ten seconds, not for what it asked',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      stage.script.pingSecondsMax = 15;
      await scene.begin({ ping: 600 });
      if (scene.driver?.isBlind === true) {
        throw new Skipped('its library shows no headers of a handshake');
      }
      const before = stage.of('stream').length;
      stage.script.isSilent = true;
      const isBack = () => stage.of('stream').length > before;
      await scene.expect(isBack, 55, 'went on waiting for pings that were not to come');
      stage.script.isSilent = false;
      await scene.opened('came back without a stream');
    },
  },
  {
    name: 'wait-max',
    should: 'let a poll wait no longer than the last answer named in x-wait-max',
    needsDriver: true,
    async play(scene) {
      const { stage } = scene;
      stage.script.waitMax = 5;
      scene.driver?.start({ mode: 'poll' });
      await scene.back(() => stage.of('inbox').length > 0, 'did not ask the inbox');
      const asked = () =>
        stage
          .of('inbox')
          .slice(1)
          .map(({ waitSeconds }) => waitSeconds);
      const isDone = () => asked().filter((seconds) => seconds > 0).length >= 2;
      await scene.expect(isDone, 60, 'sent no polls that wait');
      const most = Math.max(...asked());
      scene.check(most <= 5, `asked for ${most} s after x-wait-max: 5`);
    },
  },
  {
    name: 'poll-opens',
    should: 'be open after the first answer to a poll, which does not wait',
    needsDriver: true,
    async play(scene) {
      scene.driver?.start({ mode: 'poll' });
      await scene.back(() => scene.stage.of('inbox').length > 0, 'did not ask the inbox');
      const [first] = scene.stage.of('inbox');
      scene.check(first?.waitSeconds === 0, `let its first poll wait ${first?.waitSeconds} s`);
      const isOpen = () => scene.driver?.states.includes('open') === true;
      await scene.expect(isOpen, 10, 'did not tell its user that it is open');
    },
  },
  {
    name: 'stale-attempt',
    should: 'tell a late attempt of its own from another app: come back after its 4002, once',
    needsDriver: true,
    async play(scene) {
      const { stage, driver } = scene;
      let attempts = 0;
      stage.script.stream = () => {
        attempts += 1;
        return attempts === 1 ? new Promise<Response>(() => {}) : null;
      };
      driver?.start();
      await scene.back(() => attempts > 0, 'opened no stream after its start');
      await scene.back(() => stage.isOpen, 'waited without a bound for the answer to a handshake');
      // The first attempt arrives now: it is the newer stream for the server.
      stage.close(4002, 'another stream was opened with the token');
      await scene.back(() => attempts > 2, 'took its own late attempt for another app');
      await scene.opened('came back without a stream');
      stage.close(4002, 'another stream was opened with the token');
      await scene.shows('replaced');
      await scene.rests('came back and took the stream from the other app');
    },
  },
];
