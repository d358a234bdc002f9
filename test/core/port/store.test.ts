/** The code of the port: faults of a store, a store with replaced methods, values that may wait. */

import { describe, expect, test } from 'bun:test';
import { after } from '../../../src/core/port/maybe.ts';
import {
  isAway,
  isBusy,
  type Store,
  StoreAway,
  StoreBusy,
  WriteFailed,
  withMethods,
} from '../../../src/core/port/store.ts';

describe('a fault of the store', () => {
  test.each([
    ['of an outage', new StoreAway('no answer'), true, false],
    ['of a long queue', new StoreBusy('too many calls'), true, true],
    ['of a full disk', new WriteFailed('disk full'), false, false],
    ['that is no error', 'a text', false, false],
  ])('%s is found by its class', (_, fault, away, busy) => {
    expect([isAway(fault), isBusy(fault)]).toEqual([away, busy]);
  });

  test('is found as a cause', () => {
    const cause = new WriteFailed('not saved', { cause: new StoreBusy('too many calls') });
    const fault = new Error('no answer', { cause });
    expect([isAway(fault), isBusy(fault)]).toEqual([true, true]);
    expect(isAway(new Error('no answer', { cause: new WriteFailed('disk full') }))).toBe(false);
  });
});

test('a store with replaced methods keeps the others, and what they are bound to', async () => {
  class Base {
    protected readonly code = 'Provide1';
    async listProviders() {
      return [this.code];
    }
  }
  class Full extends Base {
    async saveFigures() {
      throw new Error(`not replaced: ${this.code}`);
    }
  }
  const saved: string[] = [];
  const store = withMethods(new Full() as unknown as Store, {
    saveFigures: async () => void saved.push('figures'),
  });
  await store.saveFigures();
  expect(saved).toEqual(['figures']);
  expect((await store.listProviders()) as unknown[]).toEqual(['Provide1']);
});

describe('the next step after a value', () => {
  test('runs at once if the value is there', () => {
    expect(after(1, (value) => value + 1)).toBe(2);
  });

  test('waits for a promise', async () => {
    const promise = after(Promise.resolve(1), (value) => value + 1);
    expect(promise).toBeInstanceOf(Promise);
    expect(await promise).toBe(2);
  });
});
