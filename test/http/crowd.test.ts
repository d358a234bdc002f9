/** How calls begin: at once while few come, in turns by client when many do. */

import { expect, test } from 'bun:test';
import { Crowd } from '../../src/http/bound/crowd.ts';

const requestOf = (client: string) => new Request('http://localhost/', { headers: { client } });
const clientOf = (request: Request) => request.headers.get('client') ?? '';

function makeCrowd(isGone: (request: Request) => boolean = () => false) {
  const crowd = new Crowd({ clientOf, isGone });
  const begun: string[] = [];
  const begin = (client: string) =>
    crowd.begin(requestOf(client), (request) => {
      begun.push(clientOf(request));
      return new Response(client);
    });
  return { begin, begun };
}

const isAtOnce = (answer: unknown) => answer instanceof Response;

test('few calls of a turn begin at once', () => {
  const { begin, begun } = makeCrowd();
  const answers = Array.from({ length: 128 }, () => begin('a'));
  expect(answers.every(isAtOnce)).toBe(true);
  expect(begun).toHaveLength(128);
});

test('a call waits for one turn, not for all that another client has waiting', async () => {
  const { begin, begun } = makeCrowd();
  const ofA = Array.from({ length: 2_000 }, () => begin('a'));
  expect(begun.length).toBeLessThanOrEqual(256);
  const atOnce = begun.length;
  await begin('b');
  expect(begun.indexOf('b')).toBeLessThanOrEqual(atOnce + 1);
  await Promise.all(ofA);
  expect(begun).toHaveLength(2_001);
});

test('a turn begins few of those that wait, and other work comes in between', async () => {
  const { begin, begun } = makeCrowd();
  const all = Promise.all(Array.from({ length: 1_000 }, () => begin('a')));
  const counts = [begun.length];
  while (begun.length < 1_000) {
    await new Promise((resolve) => setImmediate(resolve));
    counts.push(begun.length);
  }
  await all;
  const perTurn = counts.slice(1).map((count, n) => count - (counts[n] ?? 0));
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(2 * 32);
});

test('once none waits, calls begin at once again', async () => {
  const { begin } = makeCrowd();
  await Promise.all(Array.from({ length: 600 }, () => begin('a')));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isAtOnce(begin('a'))).toBe(true);
});

test('a call whose client has left is not made', async () => {
  const { begin, begun } = makeCrowd((request) => clientOf(request) === 'gone');
  const answers = Array.from({ length: 1_000 }, () => begin('gone'));
  await begin('here');
  await Promise.all(answers);
  expect(begun.filter((client) => client === 'gone').length).toBeLessThanOrEqual(256);
});

test('a call that fails fails for its client alone', async () => {
  const crowd = new Crowd({ clientOf, isGone: () => false });
  const answers = Array.from({ length: 300 }, (_, n) => {
    try {
      return crowd.begin(requestOf('a'), () => {
        if (n % 2 === 0) throw new Error('its own');
        return new Response();
      });
    } catch (fault) {
      return Promise.reject(fault);
    }
  });
  const settled = await Promise.allSettled(answers);
  expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(
    answers.map((_, n) => n % 2 === 1),
  );
});
