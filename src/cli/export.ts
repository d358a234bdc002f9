/** `gatepost export`: a provider as JSON Lines. */

import type { Command } from 'commander';
import type { Core } from '../core/core.ts';
import { counted } from '../core/counted.ts';
import { type ExportCounts, writeEnd, writeRecord } from '../core/moving/export-lines.ts';
import { type CliContext, type CommonOptions, print, withCore } from './context.ts';
import { Progress } from './progress.ts';
import { refusal } from './refusal.ts';
import { type Write, writeTo } from './sink.ts';
import { outputFileValue, providerCodeValue } from './values.ts';

/** Least length of text to write at once, UTF-16 units. */
const WRITE_LENGTH = 256 * 1024;

/**
 * Writes and counts the data of a provider. Returns null if the reader of a pipe closed it. Throws
 * `provider_not_found` if the provider is unknown.
 */
async function writeAll(
  core: Core,
  code: string,
  write: Write,
  onStep: (counts: ExportCounts) => void,
): Promise<ExportCounts | null> {
  const counts: ExportCounts = { installs: 0, slots: 0, domains: 0 };
  let text = '';
  let isKnown = false;
  for await (const record of core.store.exportProvider(code)) {
    isKnown = true;
    if (record.kind === 'domain') counts.domains += 1;
    if (record.kind === 'install') {
      counts.installs += 1;
      counts.slots += record.install.slots.length;
    }
    text += `${writeRecord(record)}\n`;
    if (text.length < WRITE_LENGTH) continue;
    if (!(await write(text))) return null;
    text = '';
    onStep(counts);
  }
  if (!isKnown) throw refusal('provider_not_found', code);
  return (await write(`${text}${writeEnd(counts)}\n`)) ? counts : null;
}

async function exportProvider(
  context: CliContext,
  code: string,
  path: string | undefined,
  options: CommonOptions,
): Promise<void> {
  await withCore(context, options, async (core) => {
    const provider = await core.store.findProvider(code);
    if (provider === null) throw refusal('provider_not_found', code);
    const progress = new Progress(context, 'links');
    const show = ({ installs }: ExportCounts) => progress.show(installs, provider.installCount);
    const run = (write: Write) => writeAll(core, code, write, show);
    const counts = await writeTo(context, path, run).finally(() => progress.clear());
    if (counts === null) return;
    const { installs, slots, domains } = counts;
    const held = [
      counted(installs, 'link'),
      counted(slots, 'HWID'),
      counted(domains, 'domain'),
    ].join(', ');
    const text = `${code}: ${held}`;
    // Without a file the records are on stdout.
    if (path === undefined) return context.stderr(`${text}\n`);
    const json = { provider_code: code, file: path, installs, hwids: slots, domains };
    print(context, options, json, `${text}, in ${path}`);
  });
}

export function addExportCommand(program: Command, context: CliContext): void {
  program
    .command('export')
    .description('write a provider with its links, HWIDs and domains as JSON Lines')
    .argument('<code>', 'the provider', providerCodeValue)
    .argument('[file]', 'a new file; stdout if omitted or -', outputFileValue)
    .action((code: string, path: string | undefined, options: CommonOptions) =>
      exportProvider(context, code, path, options),
    );
}
