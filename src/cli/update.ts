/** `gatepost update --check`: reports a newer version. Installs nothing. */

import type { Command } from 'commander';
import { VERSION } from '../base/version.ts';
import { type CliContext, type CommonOptions, print, settingsFor } from './context.ts';

async function checkForUpdate(context: CliContext, options: CommonOptions): Promise<void> {
  const config = settingsFor(context, options);
  const { version, isNewer } = await context.newestRelease(config);
  const text = isNewer
    ? `gatepost ${version} is available; this is ${VERSION}. Its files are at ${config.updateUrl}`
    : `gatepost ${VERSION} is the newest version`;
  print(context, options, { version: VERSION, newest: version, is_newer: isNewer }, text);
}

export function addUpdateCommand(program: Command, context: CliContext): void {
  program
    .command('update')
    .description('ask the release page of update.url for a newer version; installs nothing')
    .requiredOption('--check', 'compare versions, and verify the signature')
    .action((options: CommonOptions) => checkForUpdate(context, options));
}
