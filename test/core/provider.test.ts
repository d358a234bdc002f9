import { describe, expect, test } from 'bun:test';
import { usualOf } from '../../src/core/field.ts';
import type { OwnMy } from '../../src/core/port/my.ts';
import type { OwnBot, Provider } from '../../src/core/port/provider.ts';
import type { ProviderKey } from '../../src/core/port/provider-key.ts';
import type { OwnQuiet } from '../../src/core/port/reminder.ts';
import type { Store } from '../../src/core/port/store.ts';
import { authenticate, isActive } from '../../src/core/provider.ts';
import { hashKey, sameHash } from '../../src/core/secret.ts';
import { Signals } from '../../src/core/signals.ts';
import { NO_POLICY, NO_RIDE_TERMS } from '../../src/core/slot.ts';
import { BOT_TERMS, MY_TERMS, QUIET_TERMS } from '../../src/core/terms.ts';
import { ACT } from '../support/actor.ts';
import { WIDE_LIMITS } from '../support/bounds.ts';
import { noLeap } from '../support/no-leap.ts';
import { NO_RIDES } from '../support/no-rides.ts';

const KEY = 'k'.repeat(32);
const OLD_KEY = 'o'.repeat(32);
const PART_KEY = 'p'.repeat(32);
const LINKS_KEY: ProviderKey = {
  id: 1,
  name: 'bot',
  scope: 'links',
  keyHash: hashKey(PART_KEY),
  createdAtMs: 0,
  untilMs: 2_000,
  firstUsedAtMs: null,
};
const provider: Provider = {
  id: 1,
  code: 'Provide1',
  name: 'name',
  plan: 'basic',
  activeUntilMs: null,
  suspendedAtMs: null,
  installCountMax: null,
  installCount: 0,
  createdAtMs: 0,
  keyHash: hashKey(KEY),
  previousKeyHash: hashKey(OLD_KEY),
  previousKeyUntilMs: 1_000,
  ...NO_POLICY,
  ...NO_RIDE_TERMS,
  ...usualOf<OwnMy>(MY_TERMS),
  myCutOff: 0,
  ...usualOf<OwnBot>(BOT_TERMS),
  subscriptionFigures: 0,
  ...usualOf<OwnQuiet>(QUIET_TERMS),
  confirmedAtMs: 0,
  formerButtons: null,
  buttonsAtMs: 0,
};

/** A core that knows one provider and remembers what it was asked for. */
function coreOf(asked: string[]) {
  const store = {
    findProvider: async (code: string) => {
      asked.push(code);
      return code === provider.code ? provider : null;
    },
    findKey: async (providerId: number, keyHash: Uint8Array) => {
      asked.push(`key of ${providerId}`);
      return providerId === 1 && sameHash(keyHash, LINKS_KEY.keyHash) ? LINKS_KEY : null;
    },
  };
  return {
    store: store as unknown as Store,
    signals: new Signals(),
    limits: WIDE_LIMITS,
    gateways: () => [],
    rides: () => NO_RIDES,
    leastMs: noLeap,
    pushKey: () => null,
    actor: () => ACT.actor,
  };
}

describe('credentials', () => {
  test.each([
    ['the key', 'Provide1', KEY, 5_000, true],
    ['the previous key in time', 'Provide1', OLD_KEY, 999, true],
    ['the previous key too late', 'Provide1', OLD_KEY, 1_000, false],
    ['a key for a part of the API in time', 'Provide1', PART_KEY, 1_999, true],
    ['a key for a part of the API too late', 'Provide1', PART_KEY, 2_000, false],
    ['a wrong key', 'Provide1', 'x'.repeat(32), 0, false],
    ['an unknown code', 'Provide2', KEY, 0, false],
    ['a malformed key', 'Provide1', `${KEY}x`, 0, false],
    ['a key with a line break', 'Provide1', `${KEY}\n`, 0, false],
    ['a malformed code', 'Provide1 ', KEY, 0, false],
    ['no key', 'Provide1', null, 0, false],
    ['no code', null, KEY, 0, false],
  ])('%s', async (_, code, key, nowMs, isLetIn) => {
    const asked: string[] = [];
    const found = await authenticate(coreOf(asked), code, key, nowMs);
    // With the hash of the key that was shown: the audit log tells the two apart by it.
    const part = key === PART_KEY ? LINKS_KEY : null;
    expect(found).toEqual(isLetIn ? { provider, keyHash: hashKey(key ?? ''), key: part } : null);
    // The same steps whatever is wrong: a look-up of the provider, and one of a key.
    expect(asked).toHaveLength(isLetIn && part === null ? 1 : 2);
  });
});

describe('a subscription', () => {
  test.each([
    ['without an end', {}, 1e15, true],
    ['before its end', { activeUntilMs: 1_000 }, 999, true],
    ['at its end', { activeUntilMs: 1_000 }, 1_000, false],
    ['suspended', { suspendedAtMs: 5 }, 0, false],
    ['suspended before its end', { activeUntilMs: 1_000, suspendedAtMs: 0 }, 5, false],
  ])('%s', (_, more, nowMs, expected) => {
    expect(isActive({ ...provider, ...more }, nowMs)).toBe(expected);
  });
});
