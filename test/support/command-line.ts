/** Runs a command inside the test's own process, without waiting for pauses. */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openCore } from '../../src/app.ts';
import { backupTools } from '../../src/backup/tools.ts';
import { runCli } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/load.ts';
import { exampleFile, shownSettings } from '../../src/config/render.ts';
import { examine } from '../../src/doctor/examine.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { ACT } from './actor.ts';
import { freshFolder } from './app.ts';

export interface CommandLine {
  dataDir: string;
  /** The lengths of all pauses, ms; none of them took any time. */
  pauses: number[];
  /** Runs words with `--data`. */
  run(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  close(): void;
}

/** The clock stands still but for the pauses, which move it. */
export function commandLine(
  more: { isProgressDrawn?: boolean; dataDir?: string } = {},
): CommandLine {
  const folder = freshFolder();
  const dataDir = more.dataDir ?? join(folder, 'data');
  const pauses: number[] = [];
  let nowMs = Date.UTC(2026, 10, 20, 12);
  return {
    dataDir,
    pauses,
    run: async (...words) => {
      let stdout = '';
      let stderr = '';
      const code = await runCli([...words, '--data', dataDir], {
        nowMs: () => nowMs,
        sleep: async (ms) => {
          pauses.push(ms);
          nowMs += ms;
        },
        loadConfig: (flags) => loadConfig(flags, {}),
        shownSettings,
        exampleConfig: exampleFile,
        openApiDocument,
        openCore,
        operator: () => ACT.actor,
        backup: backupTools,
        examine: (loaded) => examine({ loaded, nowMs, uid: process.getuid?.() ?? 0 }),
        startApp: () => Promise.reject(new Error('no server is started here')),
        serviceManager: () => {
          throw new Error('no server is started here');
        },
        stdout: async (text) => {
          stdout += text;
          return true;
        },
        stderr: (text) => {
          stderr += text;
        },
        isTerminal: false,
        isProgressDrawn: more.isProgressDrawn ?? false,
      });
      return { code, stdout, stderr };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
