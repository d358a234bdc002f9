import { startApp } from './app.ts';
import { backupTools } from './backup/tools.ts';
import { askTerminal } from './cli/confirm.ts';
import { operatorActor } from './cli/operator.ts';
import { EXIT_ERROR, runCli, wantsJson } from './cli/program.ts';
import { failureText } from './cli/refusal.ts';
import { systemClock } from './clock.ts';
import { leaveEnvironment, loadConfig } from './config/load.ts';
import { exampleFile, shownSettings } from './config/render.ts';
import { examine } from './doctor/examine.ts';
import { openApiDocument } from './http/document/openapi.ts';
import { moveOf, openCore, storeKindOf } from './open-core.ts';
import { openEventSenders, openGateway, openOutgoing } from './open-outgoing.ts';
import { Output } from './output.ts';
import { newestRelease } from './release.ts';
import { serviceManager } from './systemd.ts';

// Only the owner may read the files of the program.
process.umask(0o077);

// Tools for logs and processes send these; without a handler they would end the process.
for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => {});

const output = new Output(process.stdout);

const exitCode = await runCli(process.argv.slice(2), {
  nowMs: systemClock.nowMs,
  sleep: systemClock.sleep,
  loadConfig: (flags) => loadConfig(flags, process.env),
  loadOwnConfig: (flags) => {
    leaveEnvironment(process.env);
    return loadConfig(flags, {});
  },
  shownSettings,
  exampleConfig: exampleFile,
  openApiDocument,
  openCore,
  startApp,
  openEventSenders,
  serviceManager: () =>
    serviceManager({
      notifySocket: process.env['NOTIFY_SOCKET'],
      watchdogUsec: process.env['WATCHDOG_USEC'],
      watchdogPid: process.env['WATCHDOG_PID'],
    }),
  operator: () => operatorActor(process.env),
  backup: (config) => backupTools(storeKindOf(config)),
  moveOf,
  openGateway,
  newestRelease: (config) => newestRelease(config, openOutgoing(config)),
  examine: (loaded) =>
    examine({
      ...{ loaded, kind: storeKindOf(loaded.config) },
      nowMs: systemClock.nowMs(),
      uid: process.getuid?.() ?? 0,
    }),
  stdout: output.write,
  stderr: (text) => process.stderr.write(text),
  isTerminal: Boolean(process.stdin.isTTY && process.stdout.isTTY),
  ask: askTerminal,
  isProgressDrawn: Boolean(process.stderr.isTTY),
  columns: process.stdout.isTTY ? process.stdout.columns || 80 : null,
});
// A pipe takes 64 KiB at a time: the exit must wait for its reader.
const problem = await output.finish();
if (problem !== null) {
  const failure = { code: 'failed', message: `cannot write the output: ${problem}` } as const;
  process.stderr.write(failureText(failure, wantsJson(process.argv)));
}
process.exit(problem === null ? exitCode : EXIT_ERROR);
