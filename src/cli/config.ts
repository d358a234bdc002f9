/** `gatepost config`: the effective settings, and where each comes from. */

import type { Command } from 'commander';
import { type CliContext, type CommonOptions, flagsOf, print } from './context.ts';
import { table } from './table.ts';

interface ConfigOptions extends CommonOptions {
  example?: boolean;
}

function showConfig(context: CliContext, options: ConfigOptions): void {
  if (options.example) {
    context.stdout(context.exampleConfig());
    return;
  }
  const loaded = context.loadConfig(flagsOf(options));
  const settings = context.shownSettings(loaded);
  const file = loaded.file ?? 'none was found';
  const text = `Configuration file: ${file}\n\n${table(settings, { KEY: 'key', VALUE: 'value', FROM: 'origin' })}`;
  print(context, options, { file: loaded.file, settings }, text);
}

export function addConfigCommand(program: Command, context: CliContext): void {
  program
    .command('config')
    .description('print the effective settings and where each comes from; secrets are masked')
    .option('--example', 'print a commented file with every setting instead')
    .action((options: ConfigOptions) => showConfig(context, options));
}
