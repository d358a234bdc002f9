/** Long lists: their pages, their places, and the sender under which messages are counted. */

import { describe, expect, test } from 'bun:test';
import type { Message } from '../../src/core/port/inbox.ts';
import type { Provider } from '../../src/core/port/provider.ts';
import { Large } from '../../src/http/answer/large.ts';
import type { Row, RowList } from '../../src/http/answer/list-text.ts';
import { senderOf } from '../../src/http/answer/message-view.ts';
import { FakeClock } from '../support/clock.ts';

const request = new Request('http://localhost/api/list-install');
const to = { provider: { id: 1 } as Provider };
const BYTES = 1_000;
/** Room for one list; none may wait. */
const ROOM = { bytesMax: BYTES, bytesPerCallerMax: BYTES, waitingMax: 0, waitingPerPartyMax: 0 };

/** A list of `count` rows, of which at most `countMax` go out; `reads` are the sizes asked for. */
function listOf(count: number, countMax: number, more: Partial<RowList> = {}) {
  const reads: number[] = [];
  const list: RowList = {
    countMax,
    pageCount: 4,
    bytesMax: BYTES,
    isOne: false,
    read: (last, size) => {
      reads.push(size);
      const from = last === null ? 0 : (last as { n: number }).n + 1;
      return Array.from(
        { length: Math.min(size, count - from) },
        (_, at): Row => ({ n: from + at }),
      );
    },
    ...more,
  };
  return { list, reads };
}

/** A server whose callers read nothing. */
const unread = (room = ROOM) => new Large(new FakeClock(), () => false, room);

async function rowsOf(large: Large, list: RowList): Promise<number | null> {
  const listed = await large.list(request, to, 'ok', list);
  if (listed === null) return null;
  const text = 'payload' in listed ? await listed.payload.text() : JSON.stringify(listed.body);
  return JSON.parse(text).data.length;
}

describe('a list in pages', () => {
  test('asks for no more rows than may go out', async () => {
    const { list, reads } = listOf(20, 10);
    expect(await rowsOf(unread(), list)).toBe(10);
    expect(reads).toEqual([4, 4, 2]);
  });

  test('that ends with its first page needs no place', async () => {
    const { list } = listOf(20, 4);
    expect(await rowsOf(unread({ ...ROOM, bytesMax: 0 }), list)).toBe(4);
  });

  test('holds the bytes that it has, not those that it could have', async () => {
    const large = unread();
    expect(await rowsOf(large, listOf(6, 10).list)).toBe(6);
    expect(await rowsOf(large, listOf(6, 10, { bytesMax: BYTES / 2 }).list)).toBe(6);
  });

  test('gives up its place if a page fails', async () => {
    const large = unread();
    const { list } = listOf(20, 10);
    const failing: RowList = {
      ...list,
      read: (last, size) => {
        if (last !== null) throw new Error('broken');
        return list.read(last, size);
      },
    };
    await expect(rowsOf(large, failing)).rejects.toThrow('broken');
    expect(await rowsOf(large, list)).toBe(10);
  });
});

test('messages are counted under the provider that sent most of their bytes', () => {
  const message = (providerId: number, bytes: number) => ({ providerId, bytes }) as Message;
  expect(senderOf([message(1, 10), message(2, 30), message(1, 15)])).toBe(2);
  expect(senderOf([message(1, 10), message(2, 20), message(1, 15)])).toBe(1);
  expect(senderOf([])).toBeUndefined();
});
