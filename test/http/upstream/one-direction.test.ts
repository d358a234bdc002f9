/** A request passes the steps of the proxy in one direction: no step knows a later one. */

import { expect, test } from 'bun:test';
import { importsOf } from '../../support/tree.ts';

const ROOM = 'src/http/upstream';
/** The steps of a request, the first that knows none of the others first. */
const STEPS = ['responses', 'forwarding', 'decision', 'forward', 'admission', 'respond', 'proxy'];

test.each(STEPS)('%s knows no later step', (step) => {
  const later = STEPS.slice(STEPS.indexOf(step) + 1).map((name) => `${ROOM}/${name}.ts`);
  const known = importsOf(`${ROOM}/${step}.ts`).map(({ file }) => file ?? '');
  expect(known.length).toBeGreaterThan(0);
  expect(known.filter((file) => later.includes(file))).toEqual([]);
});
