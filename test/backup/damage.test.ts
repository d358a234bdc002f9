/** Damage to a backup is found before anything is replaced. */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readContainer } from '../../src/backup/container.ts';
import { OperatorError } from '../../src/base/operator-error.ts';
import { ACT } from '../support/actor.ts';
import {
  addProviders,
  type Backed,
  backedUp,
  fingerprint,
  forged,
  NOW_MS,
  quicklyEncrypted,
  restoreBackup,
  verifyBackup,
} from '../support/backup.ts';
import { IS_LONG } from '../support/scale.ts';

/** Of the bytes that are packed one of so many is tried: a sum stands over all of them. */
const STEP = IS_LONG ? 1 : 7;
const DATABASE_BYTES = 96 * 1024;
const PASSPHRASE = 'correct horse';
let backed: Backed;
let plain: Uint8Array;
let encrypted: Uint8Array;
/** A short container, for what is tried at each byte. */
let shortPlain: Uint8Array;
let shortEncrypted: Uint8Array;
let damaged: string;

beforeAll(async () => {
  backed = await backedUp();
  plain = readFileSync(backed.file);
  encrypted = await quicklyEncrypted(plain, PASSPHRASE);
  // The start of the database is enough: the format has the same parts.
  const edit = (bytes: Buffer) => bytes.subarray(0, DATABASE_BYTES);
  shortPlain = readFileSync(await forged(backed, { edit, more: { rows: {} } }));
  shortEncrypted = await quicklyEncrypted(shortPlain, PASSPHRASE);
  damaged = join(backed.folder, 'damaged.backup');
});
afterAll(() => rmSync(backed.folder, { recursive: true, force: true }));

const KINDS = [
  ['plain', () => plain, () => shortPlain, null],
  ['encrypted', () => encrypted, () => shortEncrypted, PASSPHRASE],
] as const;

/** Reads a file of these bytes; returns whether it was accepted. */
async function isTaken(bytes: Uint8Array, passphrase: string | null): Promise<boolean> {
  writeFileSync(damaged, bytes);
  try {
    await readContainer(damaged, passphrase, () => () => undefined);
    return true;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return false;
  }
}

function flipped(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

describe.each(KINDS)('a backup that is %s', (_, bytesOf, shortOf, passphrase) => {
  test('as it was written is taken', async () => {
    expect(await isTaken(bytesOf(), passphrase)).toBe(true);
    expect(await isTaken(shortOf(), passphrase)).toBe(true);
  });

  test('with one bit flipped, in any byte, is refused', async () => {
    const bytes = shortOf();
    const taken: string[] = [];
    const [head] = /^(?:.*\n){2}/.exec(Buffer.from(shortPlain).toString('latin1')) ?? [''];
    const isTextAt = (at: number) => at < head.length || at >= bytes.length - 65;
    // A bit in each byte of the texts at the beginning and the end (all where it is long), and
    // another one in bytes between.
    for (let at = 0; at < bytes.length; at += isTextAt(at) ? 1 : STEP) {
      for (const bit of IS_LONG && isTextAt(at) ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 8]) {
        if (await isTaken(flipped(bytes, at, bit), passphrase)) taken.push(`${at}.${bit}`);
      }
    }
    expect(head.length).toBeGreaterThan(200);
    expect(bytes.length).toBeGreaterThan(2_000);
    expect(taken).toEqual([]);
  });

  test('that was cut off anywhere, or has something behind it, is refused', async () => {
    const bytes = bytesOf();
    const taken: number[] = [];
    for (let length = 0; length < bytes.length; length += length < 500 ? 1 : 13 * STEP) {
      if (await isTaken(bytes.slice(0, length), passphrase)) taken.push(length);
    }
    expect(taken).toEqual([]);
    expect(await isTaken(Buffer.concat([bytes, Buffer.from('x')]), passphrase)).toBe(false);
    expect(await isTaken(Buffer.concat([bytes, bytes]), passphrase)).toBe(false);
  });

  test('that is damaged replaces nothing and leaves nothing', async () => {
    const bytes = bytesOf();
    const { dataDir } = backed;
    await addProviders(dataDir, 1);
    const before = fingerprint(dataDir);
    const step = Math.floor(bytes.length / 24);
    for (let at = 0; at < bytes.length; at += step) {
      writeFileSync(damaged, flipped(bytes, at, at % 8));
      const order = { dataDir, file: damaged, passphrase, isForced: true, nowMs: NOW_MS };
      const { actor } = ACT;
      await expect(restoreBackup({ ...order, actor })).rejects.toThrow(OperatorError);
      await expect(verifyBackup({ dataDir, file: damaged, passphrase })).rejects.toThrow(
        OperatorError,
      );
      expect(fingerprint(dataDir)).toEqual(before);
    }
    expect(Object.keys(fingerprint(backed.folder))).not.toContainEqual(
      expect.stringContaining('unpacked'),
    );
  });
});
