import { boolean, command, integer, schedule, text } from '../readers.ts';
import { live } from '../setting.ts';

export const backupSettings = {
  // Only the operator knows where a backup may be stored and how large it may be.
  backupAt: live('backup.at', '', schedule, [
    'When a backup is made: a time of day in UTC such as `03:30`, or a cron pattern.',
    'Empty: never.',
  ]),
  backupKeep: live('backup.keep', '7', integer(1, 10_000), [
    'How many scheduled backups are kept; the oldest are deleted first.',
  ]),
  backupDirectory: live('backup.directory', '', text, [
    'The directory of scheduled backups.',
    'Empty: `backups` in the data directory; another disk is better.',
  ]),
  backupPassphrase: {
    ...live('backup.passphrase', '', text, [
      'The passphrase that encrypts backups; without it they cannot be restored.',
      'Empty: they are not encrypted.',
    ]),
    isSecret: true,
  },
  backupPassphraseFile: live('backup.passphrase_file', '', text, [
    'A file whose first line is that passphrase, used in place of `backup.passphrase`.',
  ]),
  backupAfter: {
    ...live('backup.after', '[]', command, [
      'A command that copies each new backup elsewhere: it gets `--` and the file as last arguments,',
      '`PATH` as its only variable, and ten minutes. Only the file may set it, which others than',
      'root and the user of the service must not be able to change. It needs a passphrase or',
      '`backup.after_clear`. Empty: none is run.',
    ]),
    env: '',
  },
  backupAfterClear: live('backup.after_clear', 'false', boolean, [
    'Whether that command also gets backups in clear, which have all keys and secrets.',
  ]),
  backupBeforeMigration: live('backup.before_migration', 'true', boolean, [
    'Whether a server backs up its database before it migrates it to a newer schema, beside the',
    'scheduled backups. The last two are kept. PostgreSQL has its own backups.',
  ]),
} as const;
