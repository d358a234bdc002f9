import { integer, schedule, text } from '../readers.ts';
import { setting } from '../setting.ts';

export const backupSettings = {
  backupAt: setting({
    key: 'backup.at',
    env: 'GATEPOST_BACKUP_AT',
    // Where a backup may lie, and how large it may be, the operator alone knows.
    default: '',
    read: schedule,
    about: [
      'When a backup is made: a time of day in UTC such as `03:30`, or a cron pattern.',
      'Empty: never.',
    ],
    isLive: true,
  }),
  backupKeep: setting({
    key: 'backup.keep',
    env: 'GATEPOST_BACKUP_KEEP',
    default: '7',
    ...integer(1, 10_000),
    about: ['How many scheduled backups are kept; the oldest go first.'],
    isLive: true,
  }),
  backupDirectory: setting({
    key: 'backup.directory',
    env: 'GATEPOST_BACKUP_DIRECTORY',
    default: '',
    read: text,
    about: [
      'Where scheduled backups go.',
      'Empty: `backups` in the data directory; another disk is better.',
    ],
    isLive: true,
  }),
  backupPassphrase: setting({
    key: 'backup.passphrase',
    env: 'GATEPOST_BACKUP_PASSPHRASE',
    default: '',
    read: text,
    about: ['Encrypts backups; without it they are lost.', 'Empty: they are not encrypted.'],
    isLive: true,
    isSecret: true,
  }),
  backupPassphraseFile: setting({
    key: 'backup.passphrase_file',
    env: 'GATEPOST_BACKUP_PASSPHRASE_FILE',
    default: '',
    read: text,
    about: ['A file whose first line is that passphrase, used in place of `backup.passphrase`.'],
    isLive: true,
  }),
} as const;
