import { describe, expect, spyOn, test } from 'bun:test';
import { AUTH_KEY, NEW_INSTALL_CODE, PROVIDER_CODE } from '../../src/core/formats.ts';
import { hashKey, randomAuthKey, randomCode, sameHash } from '../../src/core/secret.ts';

describe('random codes and keys', () => {
  test('fit the formats of the specification and do not repeat', () => {
    const keys = Array.from({ length: 1_000 }, randomAuthKey);
    const codes = Array.from({ length: 1_000 }, () => randomCode(12));
    expect(keys.filter((key) => !AUTH_KEY.pattern.test(key))).toEqual([]);
    expect(codes.filter((code) => !NEW_INSTALL_CODE.pattern.test(code))).toEqual([]);
    expect(randomCode(8)).toMatch(PROVIDER_CODE.pattern);
    expect(new Set(keys).size).toBe(1_000);
    expect(new Set(codes).size).toBe(1_000);
  });

  const tally = (codes: string) => {
    const counts = new Map<string, number>();
    for (const letter of codes) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    return counts;
  };

  test('use every letter equally often, of bytes that are', () => {
    let next = 0;
    const random = spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => {
      if (bytes instanceof Uint8Array) for (let n = 0; n < bytes.length; n++) bytes[n] = next++;
      return bytes;
    });
    try {
      // All 256 bytes in turn, four times; eight of them are no letter.
      const counts = tally(randomCode(4 * 248));
      expect([counts.size, new Set(counts.values())]).toEqual([62, new Set([16])]);
    } finally {
      random.mockRestore();
    }
  });

  test('use every letter about equally often', () => {
    const counts = tally(randomCode(620_000));
    expect(counts.size).toBe(62);
    // 10,000 each; six standard deviations either side, which one run of 10 million misses.
    expect(Math.min(...counts.values())).toBeGreaterThan(9_400);
    expect(Math.max(...counts.values())).toBeLessThan(10_600);
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
