/** What a panel needs besides its file in src/core/panel: see docs/inside/panels.md. */

import { expect, test } from 'bun:test';
import { PANEL_TRAITS } from '../../../src/core/panel/index.ts';
import { PANELS } from '../../../src/core/panel/kind.ts';
import { committedFiles, readText } from '../../support/tree.ts';

const files = committedFiles();

test.each(PANELS)('%s has a page, which the page about all panels names', (panel) => {
  const { title } = PANEL_TRAITS[panel];
  expect(files).toContain(`docs/panel-${panel}.md`);
  expect(readText(`docs/panel-${panel}.md`)).toContain(title);
  expect(readText('docs/panels.md')).toContain(`[${title}](panel-${panel}.md)`);
});

test.each(PANELS)('%s: its names of query parameters and routes are in lower case', (panel) => {
  const { queryNames, routes } = PANEL_TRAITS[panel];
  const all = [...queryNames, ...routes.clash, ...routes.singBox];
  expect(all).toEqual(all.map((name) => name.toLowerCase()));
});
