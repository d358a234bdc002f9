/** `gatepost backup` and `gatepost restore`. */

import { type Command, InvalidArgumentError } from 'commander';
import type { Manifest } from '../backup/container.ts';
import { OperatorError } from '../base/operator-error.ts';
import { type CliContext, type CommonOptions, print, settingsFor } from './context.ts';
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
  const config = settingsFor(context, options);
  const tools = await context.backup(config);
  let passphrase = tools.readPassphrase(options.passphraseFile, config);
  if (passphrase === null && options.encrypt) {
    if (!context.isTerminal) {
      throw new OperatorError('there is no passphrase: name a file with --passphrase-file');
    }
    passphrase = await askNewPassphrase();
  }
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

async function restore(context: CliContext, file: string, options: RestoreOptions): Promise<void> {
  const config = settingsFor(context, options);
  const tools = await context.backup(config);
  let passphrase = tools.readPassphrase(options.passphraseFile, config);
  const isEncrypted = (await tools.kindOf(file)) === 'encrypted';
  if (isEncrypted && passphrase === null && context.isTerminal) {
    passphrase = await askPassphrase('Passphrase');
  }
  if (options.verify) {
    const manifest = await tools.verifyBackup({ dataDir: config.dataDir, file, passphrase });
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
  const replaced = replacedFile ?? 'nothing';
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

function backupFileValue(text: string): string {
  if (text !== '-') return fileValue(text);
  throw new InvalidArgumentError(
    'a backup must be a file, because it is read more than once: - is not allowed',
  );
}

/** Refuses a bare word: `gatepost backup list` means a list, and would write a file `list`. */
function newBackupValue(text: string): string {
  const file = backupFileValue(text);
  if (/[./]/.test(file)) return file;
  throw new InvalidArgumentError(
    `a name without a dot or slash is no file here: write ./${file}; scheduled backups are files ` +
      'in backup.directory',
  );
}

export function addBackupCommands(program: Command, context: CliContext): void {
  program
    .command('backup')
    .description('write a verified copy of the database to a file; a server may run')
    .argument('<file>', 'a new file, with a dot or slash in its name; not -', newBackupValue)
    .option('--force', 'replace the file if it is a backup')
    .option('--encrypt', 'ask for a passphrase if none is set')
    .option('--passphrase-file <file>', 'encrypt with the first line of this file; - is stdin')
    .action((file: string, options: BackupOptions) => backup(context, file, options));

  program
    .command('restore')
    .description('verify a backup and replace the database with it; the old database is kept')
    .argument('<file>', 'the backup; not -', backupFileValue)
    .option('--verify', 'only verify the backup and print its contents')
    .option('--force', 'replace a database that has rows which the backup lacks')
    .option('--passphrase-file <file>', 'decrypt with the first line of this file; - is stdin')
    .action((file: string, options: RestoreOptions) => restore(context, file, options));
}
