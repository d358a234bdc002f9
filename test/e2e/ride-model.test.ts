import { expect, test } from 'bun:test';
import { type Answer, RideModel, type SentMessage, sentMessage } from '../support/ride-model.ts';

// The judge of ride-soak.test.ts must itself be able to say no.

const DAY = 86_400_000;
const during = (startMs: number, endMs = startMs) => ({ startMs, endMs });

const ANDROID: SentMessage['to'] = { os: ['android'] };

/** A notification that was sent at 1000 and seen to ride at 2000. */
function rode(number: number, more: Partial<SentMessage> = {}): SentMessage {
  const sent = during(1_000, 1_010);
  const of = { number, provider: 1, parts: ['message'], to: ANDROID, sent } as const;
  const made = sentMessage({ ...of, isCommand: false, isScheduled: false });
  return { ...made, loadedMs: 2_000, ridesMs: 2_000, ...more };
}

function command(number: number, more: Partial<SentMessage> = {}): SentMessage {
  return rode(number, { isCommand: true, parts: ['set:ip'], mayBeginMs: 1_900, ...more });
}

/** An answer to an Android phone at 3000, with a slot of old. */
function answer(more: Partial<Answer> = {}): Answer {
  return {
    startMs: 3_000,
    endMs: 3_010,
    provider: 1,
    hwid: 'a',
    os: 'android',
    carried: {},
    ridesOnDesktop: false,
    home: during(0),
    shows: ['message', 'set:ip'],
    ...more,
  };
}

const judge = (messages: readonly SentMessage[], answers: readonly Answer[]) => {
  const model = new RideModel(messages, answers);
  return answers.flatMap((one) => model.problemsOf(one)).map((says) => says.split(' (')[0]);
};
const carries = (number: number) => ({ carried: { message: number } });

test('what certainly rides must be there, and may be while it begins', () => {
  expect(judge([rode(7)], [answer()])).toEqual(['message: nothing rode, and 7 had to']);
  expect(judge([rode(7)], [answer(carries(7))])).toEqual([]);
  for (const during_ of [during(1_500), during(1_500, DAY)]) {
    expect(judge([rode(7)], [answer(during_)])).toEqual([]);
    expect(judge([rode(7)], [answer({ ...during_, ...carries(7) })])).toEqual([]);
  }
});

test('once one answer has it, later ones must', () => {
  const unseen = rode(7, { loadedMs: DAY, ridesMs: DAY });
  const first = answer({ ...during(1_500, 1_510), ...carries(7) });
  expect(judge([unseen], [first, answer()])).toEqual(['message: nothing rode, and 7 had to']);
});

test('nothing rides before its send or after its end', () => {
  const early = answer({ ...during(500, 900), ...carries(7) });
  expect(judge([rode(7)], [early])).toEqual(['message: 7 rode before its time']);
  const ended = rode(7, { mayEndMs: 2_400, endedMs: 2_500 });
  expect(judge([ended], [answer(carries(7))])).toEqual(['message: 7 rode 500 ms after its end']);
  expect(judge([ended], [answer()])).toEqual([]);
  expect(judge([ended], [answer({ ...during(2_450), ...carries(7) })])).toEqual([]);
});

test('a newer one takes the place, and its end does not bring the older one back', () => {
  const newer = rode(8, {
    sent: during(2_500),
    mayBeginMs: 2_500,
    loadedMs: 2_600,
    ridesMs: 2_600,
  });
  expect(judge([rode(7), newer], [answer(carries(7))])).toEqual([
    'message: 7 rode 400 ms after its end',
  ]);
  expect(judge([rode(7), newer], [answer(carries(8))])).toEqual([]);
  const blocked = { ...newer, mayEndMs: 2_700, endedMs: 2_710 };
  expect(judge([rode(7), blocked], [answer()])).toEqual([]);
  expect(judge([rode(7), blocked], [answer(carries(7))])).toHaveLength(1);
});

test('of a general and a named one the newer rides, and after its end the other', () => {
  const later = { sent: during(2_500), mayBeginMs: 2_500, loadedMs: 2_600, ridesMs: 2_600 };
  const named = rode(8, { ...later, to: { hwids: ['a'] } });
  expect(judge([rode(7), named], [answer(carries(7))])).toEqual([
    'message: 7 rode, and 8 is newer',
  ]);
  expect(judge([rode(7), named], [answer(carries(8))])).toEqual([]);
  const blocked = { ...named, mayEndMs: 2_700, endedMs: 2_710 };
  expect(judge([rode(7), blocked], [answer(carries(7))])).toEqual([]);
  expect(judge([rode(7), blocked], [answer()])).toHaveLength(1);
});

const NEVER = ['message: 7 rode to a device that must never see it'];

test('a named one is for its device at home, with an older slot', () => {
  const named = rode(7, { to: { hwids: ['a'] } });
  const got = (more: Partial<Answer>) => judge([named], [answer({ ...carries(7), ...more })]);
  expect(got({})).toEqual([]);
  expect(got({ hwid: 'b' })).toEqual(NEVER);
  expect(got({ home: null })).toEqual(NEVER);
  expect(got({ home: during(2_000) })).toEqual(NEVER);
  expect(got({ provider: 2 })).toEqual(NEVER);
  expect(judge([named], [answer({ home: null })])).toEqual([]);
  expect(judge([named], [answer({ home: during(2_000) })])).toEqual([]);
  expect(judge([named], [answer()])).toHaveLength(1);
});

test('a general one is for its system, for newcomers and other links too', () => {
  const got = (more: Partial<Answer>) => judge([rode(7)], [answer({ ...carries(7), ...more })]);
  expect(got({ home: null })).toEqual([]);
  expect(judge([rode(7)], [answer({ home: null })])).toHaveLength(1);
  expect(got({ os: 'ios' })).toEqual(NEVER);
  expect(got({ os: null })).toEqual(NEVER);
  expect(got({ os: null, ridesOnDesktop: true })).toEqual([]);
  expect(got({ provider: 2 })).toEqual(NEVER);
  expect(got({ shows: [] })).toEqual(NEVER);
});

test('a command to a system needs a slot at home too, and a URL is for named devices', () => {
  const got = (more: Partial<Answer>) =>
    judge([command(7)], [answer({ carried: { 'set:ip': 7 }, ...more })]);
  expect(got({})).toEqual([]);
  expect(judge([command(7)], [answer()])).toHaveLength(1);
  expect(got({ home: null })).toHaveLength(1);
  expect(got({ home: during(2_000) })).toHaveLength(1);
  expect(got({ os: null, ridesOnDesktop: true })).toHaveLength(1);
  const url = command(7, { parts: ['url'] });
  const toAll = answer({ carried: { url: 7 }, shows: ['url'] });
  expect(judge([url], [toAll])).toEqual(['url: 7 rode to a device that must never see it']);
  expect(judge([{ ...url, to: { hwids: ['a'] } }], [toAll])).toEqual([]);
});

test('a command takes its place when it is loaded, though it rides later', () => {
  const waiting = command(8, { sent: during(2_100), mayBeginMs: DAY, ridesMs: DAY });
  const older = answer({ carried: { 'set:ip': 7 } });
  expect(judge([command(7), waiting], [answer(), older])).toEqual([]);
});

test('a scheduled one is newer than what was sent after it', () => {
  const scheduled = rode(7, { isScheduled: true, mayBeginMs: 2_500, loadedMs: 2_600 });
  const later = { ...scheduled, ridesMs: 2_600 };
  const other = rode(8, { sent: during(1_100), mayBeginMs: 1_100 });
  expect(judge([later, other], [answer(carries(8))])).toHaveLength(1);
  expect(judge([later, other], [answer(carries(7))])).toEqual([]);
});
