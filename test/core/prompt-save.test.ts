import { expect, test } from 'bun:test';
import { PromptSave } from '../../src/core/prompt-save.ts';
import { nextTurn } from '../../src/core/turn.ts';

function start(wanting: readonly number[]) {
  const asked: number[] = [];
  const ends: ((fault?: Error) => void)[] = [];
  const prompt = new PromptSave({
    isWanted: (providerId) => {
      asked.push(providerId);
      return wanting.includes(providerId);
    },
    save: () =>
      new Promise((resolve, reject) => {
        ends.push((fault) => (fault === undefined ? resolve() : reject(fault)));
      }),
  });
  return { asked, ends, prompt };
}

test('saves only what a webhook wants to be told', async () => {
  const { asked, ends, prompt } = start([2]);
  prompt.ask(1);
  await nextTurn();
  expect([asked, ends.length]).toEqual([[1], 0]);
  prompt.ask(2);
  await nextTurn();
  expect(ends).toHaveLength(1);
});

test('saves once at a time, and once more for all that was asked for meanwhile', async () => {
  const { ends, prompt } = start([1, 2]);
  for (const id of [1, 1, 2, 2, 1]) {
    prompt.ask(id);
    await nextTurn();
  }
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await nextTurn();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await nextTurn();
  expect(ends).toHaveLength(2);
});

test('a save that fails is left to the regular one, and the next is made', async () => {
  const { ends, prompt } = start([1]);
  prompt.ask(1);
  await nextTurn();
  ends[0]?.(new Error('the disk is full'));
  await nextTurn();
  expect(ends).toHaveLength(1);
  prompt.ask(1);
  await nextTurn();
  expect(ends).toHaveLength(2);
});
