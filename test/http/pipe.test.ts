/** Two sockets as one connection: what each takes at a time, and the order of deeds. */

import { expect, test } from 'bun:test';
import { Pipe } from '../../src/http/front/pipe.ts';

/** A socket that takes so many bytes at a time, and notes what is done with it. */
function fakeSocket(name: string, deeds: string[]) {
  const socket = {
    takes: Number.POSITIVE_INFINITY,
    write: (bytes: Buffer) => {
      const taken = Math.min(socket.takes, bytes.length);
      if (taken > 0) deeds.push(`${name} ${bytes.toString('latin1', 0, taken)}`);
      return taken;
    },
  };
  const noted = ['pause', 'resume', 'shutdown', 'end', 'terminate'].map((deed) => [
    deed,
    () => void deeds.push(`${name} ${deed}`),
  ]);
  return Object.assign(socket, Object.fromEntries(noted));
}

function open() {
  const deeds: string[] = [];
  const [outer, inner] = [fakeSocket('outer', deeds), fakeSocket('inner', deeds)];
  const pipe = new Pipe(outer as never, inner as never);
  const done = () => deeds.splice(0);
  return { pipe, outer, inner, done, end: () => pipe.outerClosed() };
}

test('bytes pass both ways, and a side that takes no more holds back the other', () => {
  const { pipe, inner, done, end } = open();
  pipe.fromOuter(Buffer.from('ask'));
  pipe.fromInner(Buffer.from('answer'));
  expect(done()).toEqual(['inner ask', 'outer answer']);
  inner.takes = 2;
  pipe.fromOuter(Buffer.from('12345'));
  expect(done()).toEqual(['inner 12', 'outer pause']);
  // Read before the pause: it waits in its order.
  pipe.fromOuter(Buffer.from('67'));
  pipe.innerDrained();
  expect(done()).toEqual(['outer pause', 'inner 34']);
  inner.takes = 9;
  pipe.innerDrained();
  expect(done()).toEqual(['inner 567', 'outer resume']);
  end();
});

test('the end of the server reaches the caller after all bytes', () => {
  const { pipe, outer, done, end } = open();
  outer.takes = 2;
  pipe.fromInner(Buffer.from('1234'));
  pipe.innerEnded();
  expect(done()).toEqual(['outer 12', 'inner pause', 'inner end']);
  outer.takes = 9;
  pipe.outerDrained();
  expect(done()).toEqual(['outer 34', 'inner resume', 'outer resume', 'outer shutdown']);
  // What still comes of the caller is for no server.
  pipe.fromOuter(Buffer.from('more'));
  pipe.innerEnded();
  expect(done()).toEqual([]);
  pipe.outerEnded();
  expect(done()).toEqual(['outer end']);
  end();
});

test('the end of the caller reaches the server after all bytes, once', () => {
  const { pipe, inner, done, end } = open();
  inner.takes = 1;
  pipe.fromOuter(Buffer.from('12'));
  pipe.outerEnded();
  expect(done()).toEqual(['inner 1', 'outer pause']);
  pipe.innerDrained();
  expect(done()).toEqual(['inner 2', 'outer resume', 'inner shutdown']);
  pipe.fromInner(Buffer.from('answer'));
  pipe.innerEnded();
  expect(done()).toEqual(['outer answer', 'inner end', 'outer resume', 'outer end']);
  end();
});

test('a caller that is gone ends the connection inside at once', () => {
  const { pipe, inner, done } = open();
  inner.takes = 0;
  pipe.fromOuter(Buffer.from('lost'));
  pipe.outerClosed();
  expect(done()).toEqual(['outer pause', 'inner terminate']);
});
