/** `gatepost config`: the effective settings and their origins. */

import type { Command } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { LoadedConfig } from '../config/load.ts';
import { unseenFileText, unseenText } from '../config/unseen.ts';
import { type CliContext, type CommonOptions, flagsOf, print } from './context.ts';
import { table } from './table.ts';

interface ConfigOptions extends CommonOptions {
  example?: boolean;
  check?: boolean;
}

const AND_FILE = (file: string) => `and: ${file}`;

async function showConfig(context: CliContext, options: ConfigOptions): Promise<void> {
  if (options.example) {
    context.stdout(context.exampleConfig());
    return;
  }
  const loaded = context.loadConfig(flagsOf(options));
  if (options.check) return await check(context, options, loaded);
  if (loaded.unseenFile !== null) context.warn(unseenFileText(loaded.unseenFile));
  if (loaded.unseen.length > 0) context.warn(unseenText(loaded.unseen));
  const settings = context.shownSettings(loaded);
  const { file, files } = loaded;
  const heading = [`Configuration file: ${file ?? 'none'}`, ...files.slice(1).map(AND_FILE)];
  const text = `${heading.join('\n')}\n\n${table(settings, { KEY: 'key', VALUE: 'value', FROM: 'origin' })}`;
  print(context, options, { file, files, settings }, text);
}

/** Throws {@link OperatorError} where the running server would refuse to take the settings. */
async function check(
  context: CliContext,
  options: ConfigOptions,
  { config, file, unseen, unseenFile }: LoadedConfig,
): Promise<void> {
  if (unseenFile !== null) throw new OperatorError(unseenFileText(unseenFile), 'config_invalid');
  if (unseen.length > 0) context.warn(unseenText(unseen));
  await context.checkFiles(config);
  print(context, options, { file, valid: true }, `${file ?? 'the configuration'} is valid\n`);
}

export function addConfigCommand(program: Command, context: CliContext): void {
  program
    .command('config')
    .description('print the effective settings and their origins; secrets are masked')
    .option('--example', 'print a commented example file with every setting')
    .option('--check', 'fail with each mistake, also in the files that settings name')
    .action((options: ConfigOptions) => showConfig(context, options));
}
