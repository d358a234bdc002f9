import { openCore, startApp } from './app.ts';
import { operatorActor } from './cli/operator.ts';
import { runCli } from './cli/program.ts';
import { systemClock } from './clock.ts';
import { loadConfig } from './config/load.ts';
import { exampleFile, shownSettings } from './config/render.ts';

// Whatever the program makes (the database, its backups) is the operator's alone.
process.umask(0o077);

let written: Promise<void> = Promise.resolve();

/** One piece after the other: the end of the process would cut off what has not left. */
function say(text: string): Promise<void> {
  const left = () => new Promise<void>((done) => process.stdout.write(text, () => done()));
  written = written.then(left);
  return written;
}

const exitCode = await runCli(process.argv.slice(2), {
  nowMs: systemClock.nowMs,
  loadConfig: (flags) => loadConfig(flags, process.env),
  shownSettings,
  exampleConfig: exampleFile,
  openCore,
  startApp,
  operator: () => operatorActor(process.env),
  stdout: say,
  stderr: (text) => process.stderr.write(text),
  isTerminal: Boolean(process.stdin.isTTY && process.stdout.isTTY),
});
await written;
process.exit(exitCode);
