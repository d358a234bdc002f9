/** The line in which passwords wait to be compared: nobody in it keeps others out. */

import { beforeEach, describe, expect, test } from 'bun:test';
import type { Hashing } from '../../../src/core/account/sign-in.ts';
import { makePasswords } from '../../../src/http/console/passwords.ts';
import { until } from '../../support/until.ts';

/** Passwords that are being compared, in their order; each waits until it is let go. */
let compared: { password: string; letGo(): void }[];
let passwords: ReturnType<typeof makePasswords>;
beforeEach(() => {
  compared = [];
  passwords = makePasswords(new AbortController().signal, {
    hash: async () => 'a hash',
    verify: (password) =>
      new Promise((resolve) => compared.push({ password, letGo: () => resolve(true) })),
  });
});

const stranger = (client: string, account = 'anna'): Hashing => ({
  client,
  account,
  isKnown: false,
});
const verify = (of: Hashing, password: string) => passwords.verify(of, password, 'a hash');
const turns = async () => {
  for (let n = 0; n < 50; n++) await Promise.resolve();
};

/** Lets the one go that was compared for longest, until `password` is being compared. */
async function comparesSoon(password: string, steps: number): Promise<void> {
  for (let n = 0; n < steps; n++) {
    await turns();
    if (compared.some((one) => one.password === password)) return;
    compared.shift()?.letGo();
  }
  throw new Error(`${password} waits behind ${steps} others`);
}

test('a server hashes with argon2id, each time with another salt', async () => {
  const own = makePasswords(new AbortController().signal);
  const hashes = await Promise.all(['a', 'a'].map((word) => own.hash(stranger('a'), word)));
  expect(hashes[0]).toStartWith('$argon2id$');
  expect(hashes[0]).not.toBe(hashes[1]);
  expect(await own.verify(stranger('a'), 'a', hashes[0] ?? '')).toBe(true);
  expect(await own.verify(stranger('a'), 'b', hashes[0] ?? '')).toBe(false);
});

describe('a stranger', () => {
  test('waits for one password of each address before it, not for all of one', async () => {
    for (let n = 0; n < 100; n++) void verify(stranger('203.0.113.1'), `guess ${n}`);
    void verify(stranger('192.0.2.1'), 'own');
    await comparesSoon('own', 3);
  });

  test('at the same address waits for one password of each account', async () => {
    for (let n = 0; n < 100; n++) void verify(stranger('203.0.113.1', 'boris'), `guess ${n}`);
    void verify(stranger('203.0.113.1', 'anna'), 'own');
    await comparesSoon('own', 4);
  });

  test('is let in while many addresses of one network, or 160 addresses, try', async () => {
    for (let n = 0; n < 250; n++) void verify(stranger(`203.0.113.${n}`), `near ${n}`);
    for (let n = 0; n < 160; n++) void verify(stranger(`10.${n}.0.1`), `far ${n}`);
    const own = verify(stranger('192.0.2.1'), 'own');
    await comparesSoon('own', 170);
    for (const one of compared) one.letGo();
    expect(await own).toBe(true);
  });

  test('in a full line takes the place of the newest of the network with most', async () => {
    const said: (boolean | null)[] = [];
    const note = (answer: boolean | null) => void said.push(answer);
    const guess = (network: string, n: number) =>
      void verify(stranger(`${network}.${n % 250}`, `of ${n}`), `guess ${n}`).then(note);
    const networks = ['203.0.113', '198.51.100'];
    // Two are being compared, and 500 of each network wait.
    for (const network of networks) guess(network, 0);
    await turns();
    for (const network of networks) for (let n = 1; n <= 500; n++) guess(network, n);
    await turns();
    const own = verify(stranger('192.0.2.1'), 'own');
    await until('the newest is refused', () => said.length > 0);
    expect(said).toEqual([null]);
    await comparesSoon('own', 5);
    for (const one of compared) one.letGo();
    expect(await own).toBe(true);
  });
});

describe('a caller that has shown to belong to an account', () => {
  const known: Hashing = { client: '203.0.113.1', account: 'anna', isKnown: true };

  test('waits for no stranger, and strangers for none of them', async () => {
    for (let n = 0; n < 600; n++) void verify(stranger('203.0.113.1'), `guess ${n}`);
    void verify(known, 'own');
    await comparesSoon('own', 1);
    void verify({ ...known, account: 'boris' }, 'later');
    void verify(stranger('192.0.2.1'), 'first');
    await comparesSoon('first', 3);
  });

  test('of one account keeps no other account out', async () => {
    for (let n = 0; n < 100; n++) void verify(known, `guess ${n}`);
    void verify({ ...known, account: 'boris' }, 'own');
    await comparesSoon('own', 3);
  });

  test('has a new password hashed', async () => {
    expect(await passwords.hash(known, 'new')).toBe('a hash');
  });
});
