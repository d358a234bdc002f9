import { openCore, startApp } from './app.ts';
import { runCli } from './cli/program.ts';
import { systemClock } from './clock.ts';
import { loadConfig } from './config/load.ts';
import { exampleFile, shownSettings } from './config/render.ts';
import { serviceManager } from './systemd.ts';

// Whatever the program makes (the database, its backups) is the operator's alone.
process.umask(0o077);

const exitCode = await runCli(process.argv.slice(2), {
  nowMs: systemClock.nowMs,
  sleep: systemClock.sleep,
  loadConfig: (flags) => loadConfig(flags, process.env),
  shownSettings,
  exampleConfig: exampleFile,
  openCore,
  startApp,
  serviceManager: () =>
    serviceManager({
      notifySocket: process.env['NOTIFY_SOCKET'],
      watchdogUsec: process.env['WATCHDOG_USEC'],
      watchdogPid: process.env['WATCHDOG_PID'],
    }),
  stdout: (text) => process.stdout.write(text),
  writeOut: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  stderr: (text) => process.stderr.write(text),
  isTerminal: Boolean(process.stdin.isTTY && process.stdout.isTTY),
  isProgressDrawn: Boolean(process.stderr.isTTY),
});
process.exit(exitCode);
