/** Opens a real panel, calls every check with it, and writes what held. */

import { afterAll, beforeAll, describe, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strangeIn } from '../support/made-up.ts';
import { cleanUp, ROOT } from '../support/process.ts';
import { RECORDED, recordedFolder } from '../support/recorded.ts';
import { ALL_CHECKS } from './checks/index.ts';
import type { RealKind, RealPanel } from './panel.ts';
import { endPanels, sourceOf } from './start.ts';

/** The folder of what each run found: PANEL.json, a {@link Report}. */
export const REPORTS = join(ROOT, 'dist/panel-reports');
const CHECK_MS_MAX = 300_000;
const START_MS_MAX = 1_200_000;

/** What a check found. `note` is for the reader of the table; a check that throws fell. */
export interface Finding {
  held: boolean;
  note: string;
  /** What was asked and what came, for a table of its own. */
  rows?: readonly (readonly string[])[];
}

export interface Report {
  panel: RealKind;
  version: string;
  commit: string;
  checks: ({ name: string } & Finding)[];
}

/**
 * Registers a test. `run` returns a note for the table; or a {@link Finding} that did not hold,
 * where that is known of the panel and no failure.
 */
export type Check = (
  name: string,
  run: (panel: RealPanel) => Promise<string | Finding | undefined>,
) => void;

/** The checks of one matter. Those that a panel has no part in are left out by its kind. */
export type Checks = (check: Check, kind: RealKind) => void;

export function realPanelTests(
  kind: RealKind,
  open: (source: string) => Promise<RealPanel>,
  checks: readonly Checks[] = ALL_CHECKS,
  /** The database, if it is another than that of the panel's own choice. */
  database = '',
): void {
  setDefaultTimeout(CHECK_MS_MAX);
  const source = sourceOf(kind);
  if (source === null) {
    console.warn(`Tests are skipped: PANEL_SOURCES names no folder with the source of ${kind}.`);
    test.skip(`a real ${kind}`, () => {});
    return;
  }

  const where = database === '' ? kind : `${kind}-${database}`;
  describe(`a real ${where}`, () => {
    let panel: RealPanel | null = null;
    const found: Report['checks'] = [];
    let registered = 0;

    beforeAll(async () => {
      panel = await open(source);
      console.log(`${kind} ${panel.version}, built from ${panel.commit}`);
    }, START_MS_MAX);

    afterAll(async () => {
      await endPanels();
      await cleanUp();
      if (panel === null) return;
      mkdirSync(REPORTS, { recursive: true });
      const { version, commit } = panel;
      const report: Report = { panel: kind, version, commit, checks: found };
      const text = `${JSON.stringify(report, null, 2)}\n`;
      writeFileSync(join(REPORTS, `${where}.json`), text);
      // A run of a part of the checks is no report for readers.
      if (process.env['PANEL_RECORD'] !== '1' || database !== '' || found.length < registered)
        return;
      if (strangeIn(text).length > 0) throw new Error(`a secret: ${strangeIn(text)}`);
      writeFileSync(join(RECORDED, recordedFolder(kind, version), 'report.json'), text);
    }, START_MS_MAX);

    const check: Check = (name, run) => {
      registered += 1;
      test(name, async () => {
        if (panel === null) throw new Error(`${kind} did not start`);
        const entry: Report['checks'][number] = { name, held: false, note: 'did not end in time' };
        found.push(entry);
        try {
          const said = await run(panel);
          const finding = typeof said === 'object' ? said : { held: true, note: said ?? '' };
          Object.assign(entry, finding);
        } catch (fault) {
          entry.note = String(fault).split('\n')[0] ?? '';
          throw fault;
        }
      });
    };
    for (const register of checks) register(check, kind);
  });
}
