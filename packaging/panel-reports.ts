/** The findings of `make test-panels` with the real panels, for the pages of these panels. */

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

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));

/** Each version whose answers are recorded; without a whole run it has no checks. */
const reports = readdirSync(FOLDER)
  .map((folder) => join(FOLDER, folder))
  .filter((folder) => existsSync(join(folder, 'panel.json')))
  .map((folder): Report => {
    const report = join(folder, 'report.json');
    return existsSync(report) ? read(report) : { ...read(join(folder, 'panel.json')), checks: [] };
  });

const named = (report: Report) => `${report.version.replace(/^v/, '')}, ${report.commit}`;

/** Returns what each version did, of a check that at least one of them ran. */
function rowsOf(all: readonly Report[]): string[][] {
  const names = new Set(all.flatMap(({ checks }) => checks.map(({ name }) => name)));
  if (names.size === 0) return [['no whole run is recorded', ...all.map(() => '')]];
  return [...names].map((name) => [
    name,
    ...all.map(({ checks }) => {
      const found = checks.find((check) => check.name === name);
      if (found === undefined) return '';
      const { held, note } = found;
      if (note.startsWith('skipped: ')) return note.replace('skipped: ', 'not tried: ');
      // `dist/panel-reports` has the text of the fault.
      if (/^\w*Error: |^did not end/.test(note)) return '**no**: the check failed';
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
