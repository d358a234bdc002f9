/**
 * A request passes its steps in one direction: no step knows one that leads to it. The steps are
 * the files of `src/http` and `src/core` in which a refused request runs (a full link, a new HWID),
 * in the order in which it enters them, without files that only make a value from values.
 */

import { expect, test } from 'bun:test';
import { importsOf } from '../../support/tree.ts';

/** Each step, and the step that enters it: by its import, or (`~`) as a value that it was given. */
const WALK: Readonly<Record<string, string | null>> = {
  'http/bound/crowd': null,
  'http/mount': '~http/bound/crowd',
  'http/strangers': 'http/mount',
  'http/my/door': 'http/mount',
  'http/upstream/proxy': 'http/mount',
  'http/upstream/panels': 'http/upstream/proxy',
  'core/key-path': 'http/upstream/proxy',
  'http/gate/device-headers': 'http/upstream/proxy',
  'http/upstream/decision': 'http/upstream/proxy',
  'core/named-link': 'http/upstream/decision',
  'core/door': 'core/named-link',
  'core/slot': 'core/door',
  'core/figures': '~core/door',
  'core/refused-devices': 'core/figures',
  'core/my': 'http/upstream/proxy',
  'http/upstream/responses': 'http/upstream/proxy',
  'http/gate/texts': 'http/upstream/responses',
  'http/traffic': 'http/upstream/proxy',
  // An admitted request goes on.
  'http/upstream/forward': 'http/upstream/proxy',
  'http/upstream/admission': 'http/upstream/proxy',
  'http/upstream/forwarding': 'http/upstream/decision',
  'http/upstream/respond': 'http/upstream/proxy',
};

const knownTo = (step: string) => importsOf(`src/${step}.ts`).map(({ file }) => file);

test.each(Object.keys(WALK))('%s knows no step that leads to it', (step) => {
  const leading: string[] = [];
  for (let at = WALK[step]; at != null; at = WALK[at.replace('~', '')]) leading.push(at);
  const [from] = leading;
  if (from?.startsWith('~') === false) expect(knownTo(from)).toContain(`src/${step}.ts`);
  const before = leading.map((one) => `src/${one.replace('~', '')}.ts`);
  expect(knownTo(step).filter((file) => before.includes(file ?? ''))).toEqual([]);
});
