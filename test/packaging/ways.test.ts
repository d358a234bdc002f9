/**
 * Each printed command is one that the walk on the package runs (`packaging/test/walk.sh`), or has
 * a reason why not.
 */

import { expect, test } from 'bun:test';
import { FIRST, NOT_WALKED, SECOND } from '../../packaging/test/ways.ts';
import { stepsOf, stepsOfPart } from '../support/transcript.ts';
import { committedFiles, readText } from '../support/tree.ts';

interface Place {
  path: string;
  heading?: string;
}

const covers = (place: Place, path: string, heading: string) =>
  place.path === path && (place.heading ?? heading) === heading;
/** Pages for operators; those below `test` are for developers. */
const pages = committedFiles().filter((path) =>
  /^(?:docs\/[\w.-]+|README|SECURITY)\.md$/.test(path),
);
const steps = pages.flatMap((path) => stepsOf(readText(path)).map((step) => ({ ...step, path })));

test('every printed command is walked, or it says why not', () => {
  const known = [...FIRST, ...SECOND, ...NOT_WALKED];
  const neither = steps.filter(
    ({ path, heading }) => !known.some((place) => covers(place, path, heading)),
  );
  expect(steps.length).toBeGreaterThan(200);
  expect(neither.map(({ path, line, command }) => `${path}:${line}: ${command}`)).toEqual([]);
});

test('every part of the walk, and every reason, is of commands that are printed', () => {
  for (const part of [...FIRST, ...SECOND]) expect(stepsOfPart(part).length).toBeGreaterThan(0);
  const idle = NOT_WALKED.filter(
    (place) => !steps.some(({ path, heading }) => covers(place, path, heading)),
  );
  expect(idle).toEqual([]);
});

test('a tool that must be root, or another user, is called by sudo', () => {
  // The walk is root, who needs none: a reader may be another user.
  const rights = /^(?:apt|systemctl (?!status)|create(?:user|db)|tee|certbot|install .*-o|chown)\b/;
  const wrong = steps.filter(({ command }) => rights.test(command));
  expect(wrong.map(({ path, line, command }) => `${path}:${line}: ${command}`)).toEqual([]);
});
