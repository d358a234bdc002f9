/** `gatepost backup` and `gatepost restore`. */

import { type Command, InvalidArgumentError } from 'commander';
import type { Manifest } from '../backup/container.ts';
import type { Config } from '../config/settings/index.ts';
import { OperatorError } from '../operator-error.ts';
import { type CliContext, type CommonOptions, flagsOf, print } from './context.ts';
import { askNewPassphrase, askPassphrase } from './passphrase.ts';
import { untilInterrupted } from './signals.ts';
import { sheet } from './table.ts';
import { fileValue, showBytes, showTime } from './values.ts';

interface BackupOptions extends CommonOptions {
  force?: boolean;
  encrypt?: boolean;
  passphraseFile?: string;
}

interface RestoreOptions extends CommonOptions {
  force?: boolean;
  verify?: boolean;
  passphraseFile?: string;
}

async function backup(context: CliContext, file: string, options: BackupOptions): Promise<void> {
  const { config } = context.loadConfig(flagsOf(options));
  const tools = context.backup(config);
  const passphrase = await passphraseFor(context, options, config);
  tools.yieldToOthers();
  const made = await untilInterrupted((signal) =>
    tools.makeBackup({
      dataDir: config.dataDir,
      file,
      passphrase,
      replaces: options.force === true,
      nowMs: context.nowMs(),
      signal,
    }),
  );
  const { manifest, bytes, isEncrypted } = made;
  const facts = { file: made.file, bytes, encrypted: isEncrypted, ...manifestJson(manifest) };
  const heading = {
    file: made.file,
    size: showBytes(bytes),
    encrypted: isEncrypted ? 'yes' : 'no',
  };
  print(context, options, facts, sheet({ ...heading, ...manifestSheet(manifest) }));
}

async function passphraseFor(
  context: CliContext,
  { passphraseFile, encrypt }: BackupOptions,
  config: Config,
): Promise<string | null> {
  const given = context.backup(config).readPassphrase(passphraseFile, config);
  if (given !== null || !encrypt) return given;
  if (!context.isTerminal) {
    throw new OperatorError('there is no passphrase: name a file with --passphrase-file');
  }
  return askNewPassphrase();
}

async function restore(context: CliContext, file: string, options: RestoreOptions): Promise<void> {
  const { config } = context.loadConfig(flagsOf(options));
  const tools = context.backup(config);
  let passphrase = tools.readPassphrase(options.passphraseFile, config);
  const isEncrypted = (await tools.kindOf(file)) === 'encrypted';
  if (isEncrypted && passphrase === null && context.isTerminal) {
    passphrase = await askPassphrase('Passphrase');
  }
  if (options.verify) {
    const manifest = await tools.verifyBackup({
      dataDir: config.dataDir,
      file,
      passphrase,
    });
    const text = `${file} is good\n${sheet(manifestSheet(manifest))}`;
    print(context, options, { file, ...manifestJson(manifest) }, text);
    return;
  }
  const { manifest, replacedFile } = await tools.restoreBackup({
    dataDir: config.dataDir,
    file,
    passphrase,
    isForced: options.force === true,
    actor: context.operator(),
    nowMs: context.nowMs(),
  });
  const facts = { file, data: config.dataDir, kept: replacedFile, ...manifestJson(manifest) };
  const replaced = replacedFile ?? 'nothing was there';
  const rows = sheet({ ...manifestSheet(manifest), replaced });
  print(context, options, facts, `${file} was restored into ${config.dataDir}\n${rows}`);
}

function manifestJson({ gatepost, schema, created_at_ms, database_bytes, rows }: Manifest) {
  return { created_at: showTime(created_at_ms), gatepost, schema, database_bytes, rows };
}

function manifestSheet(manifest: Manifest) {
  const filled = Object.entries(manifest.rows).filter(([, count]) => count > 0);
  return {
    moment: showTime(manifest.created_at_ms),
    'written by': `gatepost ${manifest.gatepost}, schema ${manifest.schema}`,
    database: showBytes(manifest.database_bytes),
    rows: filled.map(([table, count]) => `${table} ${count}`).join(', '),
  };
}

/** A backup is read back before it bears its name, and looked at before it is read. */
function backupFileValue(text: string): string {
  if (text !== '-') return fileValue(text);
  throw new InvalidArgumentError(
    'a backup needs a file, as it is read more than once: - cannot be standard output or input',
  );
}

export function addBackupCommands(program: Command, context: CliContext): void {
  program
    .command('backup')
    .description('write a checked copy of the database to one file, beside a running server')
    .argument('<file>', 'to be made; not -', backupFileValue)
    .option('--force', 'replace the file if it is a backup')
    .option('--encrypt', 'ask for a passphrase if none is set')
    .option('--passphrase-file <file>', 'encrypt with the first line of this file; - is stdin')
    .action((file: string, options: BackupOptions) => backup(context, file, options));

  program
    .command('restore')
    .description('check a backup and put its database in place; the one there is kept')
    .argument('<file>', 'to be read; not -', backupFileValue)
    .option('--verify', 'only check it and print what is in it')
    .option('--force', 'also when the present database holds what the backup does not')
    .option('--passphrase-file <file>', 'whose first line decrypts it; - is stdin')
    .action((file: string, options: RestoreOptions) => restore(context, file, options));
}
