import { openCore, startApp } from './app.ts';
import { operatorActor } from './cli/operator.ts';
import { runCli } from './cli/program.ts';
import { systemClock } from './clock.ts';
import { loadConfig } from './config.ts';

// Whatever the program makes (the database, its backups) is the operator's alone.
process.umask(0o077);

const exitCode = await runCli(process.argv.slice(2), {
  nowMs: systemClock.nowMs,
  loadConfig: (flags) => loadConfig(flags, process.env),
  openCore,
  startApp,
  operator: () => operatorActor(process.env),
  stdout: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  isTerminal: Boolean(process.stdin.isTTY && process.stdout.isTTY),
});
process.exit(exitCode);
