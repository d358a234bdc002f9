/** `gatepost export`: a provider as JSON Lines. */

import { open, rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ExportCounts, writeEnd, writeRecord } from '../core/export-lines.ts';
import type { ExportRecord } from '../core/import-store.ts';
import { OperatorError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, noSuchProvider, withCore } from './context.ts';
import { Progress } from './progress.ts';
import { providerCodeValue } from './values.ts';

/** How much text is written at a time. */
const WRITE_LENGTH = 256 * 1024;

interface Sink {
  write(text: string): Promise<void>;
  /** Everything is written; called once, at the end. */
  finish(): Promise<void>;
  /** Something went wrong: nothing half done is left. */
  abandon(): Promise<void>;
}

/** A new file for the owner alone. One that exists is not touched: it may be the only copy. */
async function fileSink(path: string): Promise<Sink> {
  try {
    const file = await open(path, 'wx', 0o600);
    return {
      write: (text) => file.writeFile(text),
      finish: async () => {
        await file.sync();
        await file.close();
      },
      abandon: async () => {
        await file.close();
        await rm(path, { force: true });
      },
    };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new OperatorError(`${path} exists: name another file`);
    throw new OperatorError(`cannot write ${path}: ${message}`);
  }
}

function stdoutSink(context: CliContext): Sink {
  return {
    write: context.writeOut,
    finish: async () => {},
    abandon: async () => {},
  };
}

/** Writes the records and the last line; returns what was counted. */
async function writeAll(
  records: AsyncIterable<ExportRecord>,
  sink: Sink,
  onRecord: (counts: ExportCounts) => void,
): Promise<ExportCounts | null> {
  const counts: ExportCounts = { installs: 0, slots: 0, domains: 0 };
  let text = '';
  let isKnown = false;
  for await (const record of records) {
    isKnown = true;
    if (record.kind === 'domain') counts.domains += 1;
    if (record.kind === 'install') {
      counts.installs += 1;
      counts.slots += record.install.slots.length;
    }
    text += `${writeRecord(record)}\n`;
    if (text.length < WRITE_LENGTH) continue;
    await sink.write(text);
    text = '';
    onRecord(counts);
  }
  if (!isKnown) return null;
  await sink.write(`${text}${writeEnd(counts)}\n`);
  return counts;
}

async function exportProvider(
  context: CliContext,
  code: string,
  path: string | undefined,
  options: CommonOptions,
): Promise<void> {
  await withCore(context, options, async (core) => {
    const provider = await core.store.findProvider(code);
    if (provider === null) throw noSuchProvider(code);
    const sink = path === undefined ? stdoutSink(context) : await fileSink(path);
    const progress = new Progress(context, 'links');
    let counts: ExportCounts | null;
    try {
      counts = await writeAll(core.store.exportProvider(code), sink, ({ installs }) =>
        progress.show(installs, provider.installCount),
      );
      if (counts === null) throw noSuchProvider(code);
      await sink.finish();
    } catch (error) {
      await sink.abandon();
      if (error instanceof OperatorError) throw error;
      throw new OperatorError(`the export failed: ${(error as Error).message}`);
    } finally {
      progress.clear();
    }
    // Without a file, stdout belongs to the records.
    const { installs, slots, domains } = counts;
    const text = `${code}: ${installs} links, ${slots} HWIDs, ${domains} domains`;
    if (path === undefined) context.stderr(`${text}\n`);
    else if (options.json) {
      const json = { provider_code: code, file: path, installs, hwids: slots, domains };
      context.stdout(`${JSON.stringify(json)}\n`);
    } else context.stdout(`${text}, in ${path}\n`);
  });
}

export function addExportCommand(program: Command, context: CliContext): void {
  program
    .command('export')
    .description('write a provider with its links, HWIDs and domains as JSON Lines')
    .argument('<code>', 'the provider', providerCodeValue)
    .argument('[file]', 'a new file; stdout unless given')
    .action((code: string, path: string | undefined, options: CommonOptions) =>
      exportProvider(context, code, path, options),
    );
}
