/** Runs a command inside the test's own process: a start of the executable takes 0.1 s. */

import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backupTools } from '../../src/backup/tools.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { ErrorCode } from '../../src/base/operator-error.ts';
import type { CliContext } from '../../src/cli/context.ts';
import { explanations } from '../../src/cli/explanations.ts';
import { operatorActor } from '../../src/cli/operator.ts';
import { runCli } from '../../src/cli/program.ts';
import { HiddenNames } from '../../src/config/hidden-names.ts';
import { loadConfig } from '../../src/config/load.ts';
import { nearestText } from '../../src/config/nearest.ts';
import { exampleFile, shownSettings } from '../../src/config/render.ts';
import { loadBesideServer } from '../../src/config/server-note.ts';
import type { EventSenders } from '../../src/core/outbox/carrier.ts';
import { type Store, withMethods } from '../../src/core/port/store.ts';
import { examine } from '../../src/doctor/examine.ts';
import { makeReport } from '../../src/doctor/report.ts';
import { openApiDocument } from '../../src/http/document/openapi.ts';
import { readPanel } from '../../src/panel/panel-read.ts';
import { checkFiles } from '../../src/parts/file-check.ts';
import { moveOf, nodeNameOf, openCore, storeKindOf } from '../../src/parts/open-core.ts';
import {
  openEventSenders,
  openGateway,
  openOutgoing,
  sendEvents,
} from '../../src/parts/open-outgoing.ts';
import { newestRelease } from '../../src/parts/release.ts';
import { urlOfServer } from '../../src/parts/url-for-people.ts';
import { ACT } from './actor.ts';
import { freshFolder } from './app.ts';
import { prepareData } from './empty-database.ts';
import { plainEnv } from './process.ts';
import { READING } from './reading.ts';

export interface CommandLine {
  dataDir: string;
  /** The lengths of all pauses, ms; none of them took any time. */
  pauses: number[];
  /** The questions so far. */
  questions: string[];
  /** Runs words with `--data`. */
  run(...words: string[]): Promise<Printed>;
  /** A file with a secret in it that is its owner's alone. */
  secretFile(text: string): string;
  close(): void;
}

/** The line of JSON that a failed command ends stderr with. */
export function failureLine(code: ErrorCode, message: string): string {
  return `${JSON.stringify({ error: { code, message } })}\n`;
}

interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command's surroundings, without a terminal. It starts no server. */
function contextOf(
  nowMs: () => number,
  env: Record<string, string> = {},
): Omit<CliContext, 'stderr' | 'stdout' | 'terminal' | 'warn'> {
  const noServer = () => {
    throw new Error('no server is started here');
  };
  return {
    nowMs,
    sleep: systemClock.sleep,
    loadConfig: (flags) => loadBesideServer(flags, env),
    loadServerConfig: (flags) => loadConfig(flags, env),
    loadOwnConfig: (flags) => loadConfig(flags, {}),
    urlForPeople: async (...given) => urlOfServer(...given),
    shownSettings,
    exampleConfig: exampleFile,
    openApiDocument: async () => openApiDocument(),
    explanations: async () => explanations(),
    nearestText,
    openCore,
    moveOf: async (...given) => moveOf(...given),
    readPanel: async (job, watch) => {
      const { users, view } = await readPanel(job, { ...READING, ...watch, sleep: async () => {} });
      return { users: [...users], view };
    },
    openGateway,
    newestRelease: (config) => newestRelease(config, openOutgoing(config)),
    operator: () => operatorActor(env),
    backup: async (config) => backupTools(storeKindOf(config)),
    checkFiles: async (config) => checkFiles(config),
    hiddenNames: (loaded) => new HiddenNames(loaded),
    report: makeReport,
    examine: (loaded, outside, onDatabase) =>
      examine({
        loaded,
        kind: storeKindOf(loaded.config),
        nowMs: nowMs(),
        uid: process.getuid?.() ?? 0,
        outside,
        ...(onDatabase && { onDatabase }),
      }),
    sendEvents,
    machineOf: async (config) => (config.databaseUrl === null ? '' : nodeNameOf(config)),
    startApp: noServer,
    asOwner: async () => null,
    openEventSenders: async (config) => openEventSenders(config),
    serviceManager: noServer,
    isTerminal: false,
    ask: async () => null,
    isProgressDrawn: false,
    columns: null,
  };
}

/** Runs a command line as the executable does with these variables, by the clock unless given. */
export async function runHere(
  argv: readonly string[],
  { env = {}, nowMs }: { env?: Record<string, string>; nowMs?: number } = {},
): Promise<Printed> {
  let stdout = '';
  let stderr = '';
  const code = await runCli(argv, {
    ...contextOf(nowMs === undefined ? systemClock.nowMs : () => nowMs, plainEnv(env)),
    stdout: async (text) => {
      stdout += text;
      return true;
    },
    stderr: (text) => {
      stderr += text;
    },
  });
  return { code, stdout, stderr };
}

/**
 * The clock stands still but for the pauses, which move it. With `answers` somebody sits at a
 * terminal and gives them in turn; null is Ctrl-C.
 */
export function commandLine(
  more: {
    isProgressDrawn?: boolean;
    dataDir?: string;
    answers?: (string | null)[];
    columns?: number;
    /** Replaces methods of the store that a command opens. */
    replaced?: Partial<Store>;
    /** Sends events to webhooks. */
    eventSenders?: EventSenders;
    /** Variables with settings. */
    env?: Record<string, string>;
    /** Finds in place of the doctor. */
    examine?: CliContext['examine'];
  } = {},
): CommandLine {
  const folder = freshFolder();
  const dataDir = more.dataDir ?? join(folder, 'data');
  const pauses: number[] = [];
  const questions: string[] = [];
  let secrets = 0;
  let nowMs = Date.UTC(2026, 10, 20, 12);
  return {
    dataDir,
    pauses,
    questions,
    run: async (...words) => {
      let stdout = '';
      let stderr = '';
      const code = await runCli([...words, '--data', dataDir], {
        ...contextOf(() => nowMs, more.env),
        ...(more.examine && { examine: more.examine }),
        sleep: async (ms) => {
          pauses.push(ms);
          nowMs += ms;
        },
        openCore: async (config, create) => {
          if (create && config.databaseUrl === null) await prepareData(config.dataDir);
          const core = await openCore(config, create);
          return { ...core, store: withMethods(core.store, more.replaced ?? {}) };
        },
        operator: () => ACT.actor,
        openEventSenders: async (config) =>
          more.eventSenders
            ? { eventSenders: more.eventSenders, close: () => {} }
            : openEventSenders(config),
        stdout: async (text) => {
          stdout += text;
          return true;
        },
        stderr: (text) => {
          stderr += text;
        },
        isTerminal: more.answers !== undefined,
        ask: async (question) => {
          questions.push(question);
          return more.answers?.shift() ?? null;
        },
        isProgressDrawn: more.isProgressDrawn ?? false,
        columns: more.columns ?? null,
      });
      return { code, stdout, stderr };
    },
    secretFile: (text) => {
      const path = join(folder, `secret-${secrets++}`);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
