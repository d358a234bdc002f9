import { systemClock } from './base/clock.ts';
import type { LogLevel } from './base/log.ts';
import { askTerminal } from './cli/confirm.ts';
import { flagsOf } from './cli/context.ts';
import { isJournal, withPriority } from './cli/journal.ts';
import { operatorActor } from './cli/operator.ts';
import { Output } from './cli/output.ts';
import { EXIT_ERROR, runCli, wantsJson } from './cli/program.ts';
import { failureText } from './cli/refusal.ts';
import { serviceManager } from './cli/systemd.ts';
import { dataDirectory } from './config/files.ts';
import { HiddenNames } from './config/hidden-names.ts';
import { leaveEnvironment, loadConfig } from './config/load.ts';
import { nearestText } from './config/nearest.ts';
import { exampleFile, shownSettings } from './config/render.ts';
import { loadBesideServer } from './config/server-note.ts';
import { OUTPUT_WRITER } from './handover/output-line.ts';
import { PANEL_READER } from './panel/reader-line.ts';
import { readPanelInProcess } from './panel/reader-process.ts';
import { IS_PACKAGED, keepSettings, ownCommand } from './parts/own-program.ts';

// Only the owner may read the files of the program.
process.umask(0o077);

// Tools for logs and processes send these; without a handler they would end the process.
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});

// Only the commands that use these load them: all others start in half the time.
const outgoing = () => import('./parts/open-outgoing.ts');
const data = () => import('./parts/open-core.ts');

// Not a command: an import starts it.
if (process.argv[2] === PANEL_READER) {
  const { readForImport } = await import('./panel/reader-main.ts');
  process.exit(
    await readForImport(process.argv[3] ?? '', { sleep: systemClock.sleep, exit: process.exit }),
  );
}

if (process.argv[2] === OUTPUT_WRITER) {
  const { writeOutputs } = await import('./handover/output-writer.ts');
  const complain = (problem: string) => void process.stderr.write(problem);
  process.exit(await writeOutputs(process.argv[3] ?? '', complain));
}

const isInJournal = isJournal(process.env['JOURNAL_STREAM']);

/** Writes whole lines, with their priority if the journal reads them. */
function writeStderr(text: string, level: LogLevel = 'info'): void {
  process.stderr.write(isInJournal ? withPriority(level, text) : text);
}

const output = new Output(process.stdout);
/** The environment of the caller: a command of root gives up what is no setting. */
const env = { ...process.env };
const asker = { isPackaged: IS_PACKAGED, serves: false };
let operator = () => operatorActor(env);
const isTerminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);

const exitCode = await runCli(process.argv.slice(2), {
  nowMs: systemClock.nowMs,
  sleep: systemClock.sleep,
  loadConfig: (flags) => loadBesideServer(flags, env, asker),
  loadServerConfig: (flags) => loadConfig(flags, env, { ...asker, serves: true }),
  loadOwnConfig: (flags) => {
    leaveEnvironment(process.env);
    return loadConfig(flags, {}, asker);
  },
  urlForPeople: async (...given) =>
    (await import('./parts/url-for-people.ts')).urlOfServer(...given),
  shownSettings,
  exampleConfig: exampleFile,
  openApiDocument: async () => (await import('./http/document/openapi.ts')).openApiDocument(),
  explanations: async () => (await import('./cli/explanations.ts')).explanations(),
  nearestText,
  openCore: async (...given) => (await data()).openCore(...given),
  asOwner: async (command, isJson) => {
    const { asOwner } = await import('./handover/handover.ts');
    return asOwner(command, {
      isJson,
      dataDir: () => dataDirectory(flagsOf(command.opts()), env, asker),
      own: process.env,
      onHandover: () => {
        const caller = operator();
        operator = () => caller;
        keepSettings(env);
      },
    });
  },
  startApp: async (loaded, signal) =>
    (await import('./app.ts')).startApp(loaded, signal, writeStderr),
  openEventSenders: async (config) => (await outgoing()).openEventSenders(config),
  sendEvents: async (...given) => (await outgoing()).sendEvents(...given),
  machineOf: async (config) =>
    config.databaseUrl === null ? '' : (await data()).nodeNameOf(config),
  serviceManager: () =>
    serviceManager({
      notifySocket: env['NOTIFY_SOCKET'],
      watchdogUsec: env['WATCHDOG_USEC'],
      watchdogPid: env['WATCHDOG_PID'],
    }),
  operator: () => operator(),
  backup: async (config) => {
    const { backupTools } = await import('./backup/tools.ts');
    return backupTools((await data()).storeKindOf(config));
  },
  moveOf: async (...given) => (await data()).moveOf(...given),
  readPanel: readPanelInProcess(ownCommand(), process.env),
  openGateway: async (config, gateway) => (await outgoing()).openGateway(config, gateway),
  newestRelease: async (config) => {
    const { newestRelease } = await import('./parts/release.ts');
    const opened = (await outgoing()).openOutgoing(config);
    return newestRelease(config, opened).finally(() => opened.close());
  },
  checkFiles: async (config) => (await import('./parts/file-check.ts')).checkFiles(config),
  hiddenNames: (loaded) => new HiddenNames(loaded),
  report: async (known) => (await import('./doctor/report.ts')).makeReport(known),
  examine: async (loaded, outside, onDatabase) => {
    const { examine } = await import('./doctor/examine.ts');
    return examine({
      loaded,
      kind: (await data()).storeKindOf(loaded.config),
      nowMs: systemClock.nowMs(),
      uid: process.getuid?.() ?? 0,
      outside,
      // A timer would sign in at panels each hour.
      signsIn: isTerminal,
      ...(onDatabase && { onDatabase }),
    });
  },
  stdout: output.write,
  stderr: writeStderr,
  isTerminal,
  ask: askTerminal,
  isProgressDrawn: Boolean(process.stderr.isTTY),
  columns: process.stdout.isTTY ? process.stdout.columns || 80 : null,
});
// A pipe takes 64 KiB at a time: the exit must wait for its reader.
const problem = await output.finish();
if (problem !== null) {
  const failure = { code: 'failed', message: `cannot write the output: ${problem}` } as const;
  writeStderr(failureText(failure, wantsJson(process.argv)), 'error');
}
process.exit(problem === null ? exitCode : EXIT_ERROR);
