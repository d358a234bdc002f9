import { describe, expect, test } from 'bun:test';
import { NEW_INSTALL_CODE } from '../../src/core/install.ts';
import { AUTH_KEY, PROVIDER_CODE } from '../../src/core/provider.ts';
import { hashKey, randomAuthKey, randomCode, sameHash } from '../../src/core/secret.ts';

describe('random codes and keys', () => {
  test('fit the formats of the specification and do not repeat', () => {
    const keys = Array.from({ length: 1_000 }, randomAuthKey);
    const codes = Array.from({ length: 1_000 }, () => randomCode(12));
    expect(keys.filter((key) => !AUTH_KEY.test(key))).toEqual([]);
    expect(codes.filter((code) => !NEW_INSTALL_CODE.test(code))).toEqual([]);
    expect(randomCode(8)).toMatch(PROVIDER_CODE);
    expect(new Set(keys).size).toBe(1_000);
    expect(new Set(codes).size).toBe(1_000);
  });

  test('use every letter about equally often', () => {
    const counts = new Map<string, number>();
    for (const letter of randomCode(62_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 1000 each; eight standard deviations either side.
    expect(Math.min(...counts.values())).toBeGreaterThan(750);
    expect(Math.max(...counts.values())).toBeLessThan(1_250);
  });
});

describe('hashes', () => {
  test('are SHA-256', () => {
    expect(Buffer.from(hashKey('abc')).toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  test('are the same or not', () => {
    expect(sameHash(hashKey('a'), hashKey('a'))).toBe(true);
    expect(sameHash(hashKey('a'), hashKey('b'))).toBe(false);
  });
});
