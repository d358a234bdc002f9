/** What held with the real panels, as `make test-panels` recorded it. Their pages show it. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Report {
  panel: string;
  version: string;
  commit: string;
  checks: { name: string; held: boolean; note: string }[];
}

interface PanelTable {
  page: string;
  head: string[];
  rows: string[][];
}

const FOLDER = join(import.meta.dir, '../test/fixtures/panels');

const reports = readdirSync(FOLDER)
  .map((folder) => join(FOLDER, folder, 'report.json'))
  .filter((file) => existsSync(file))
  .map((file): Report => JSON.parse(readFileSync(file, 'utf8')));

const named = (report: Report) => `${report.version.replace(/^v/, '')}, ${report.commit}`;

/** Returns what each version did, of a check that at least one of them ran. */
function rowsOf(all: readonly Report[]): string[][] {
  const names = new Set(all.flatMap(({ checks }) => checks.map(({ name }) => name)));
  return [...names].map((name) => [
    name,
    ...all.map(({ checks }) => {
      const found = checks.find((check) => check.name === name);
      if (found === undefined) return '';
      const { held, note } = found;
      return [held ? 'yes' : '**no**', note].filter(Boolean).join(': ');
    }),
  ]);
}

/** The table of each page of a panel: a column for each version that was run. */
export const PANEL_TABLES: readonly PanelTable[] = [
  ...Map.groupBy(reports, ({ panel }) => panel),
].map(([panel, all]) => ({
  page: `docs/panel-${panel}.md`,
  head: ['What was tried', ...all.map(named)],
  rows: rowsOf(all),
}));
