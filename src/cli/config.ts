/** `gatepost config`: the effective settings and their origins. */

import type { Command } from 'commander';
import { unseenFileText, unseenText } from '../config/unseen.ts';
import { type CliContext, type CommonOptions, flagsOf, print } from './context.ts';
import { table } from './table.ts';

interface ConfigOptions extends CommonOptions {
  example?: boolean;
}

const AND_FILE = (file: string) => `and: ${file}`;

function showConfig(context: CliContext, options: ConfigOptions): void {
  if (options.example) {
    context.stdout(context.exampleConfig());
    return;
  }
  const loaded = context.loadConfig(flagsOf(options));
  if (loaded.unseenFile !== null) context.warn(unseenFileText(loaded.unseenFile));
  if (loaded.unseen.length > 0) context.warn(unseenText(loaded.unseen));
  const settings = context.shownSettings(loaded);
  const { file, files } = loaded;
  const heading = [`Configuration file: ${file ?? 'none'}`, ...files.slice(1).map(AND_FILE)];
  const text = `${heading.join('\n')}\n\n${table(settings, { KEY: 'key', VALUE: 'value', FROM: 'origin' })}`;
  print(context, options, { file, files, settings }, text);
}

export function addConfigCommand(program: Command, context: CliContext): void {
  program
    .command('config')
    .description('print the effective settings and their origins; secrets are masked')
    .option('--example', 'print a commented example file with every setting')
    .action((options: ConfigOptions) => showConfig(context, options));
}
