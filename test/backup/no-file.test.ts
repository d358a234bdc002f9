/** A store whose database is not a file: its backups are refused with what to use instead. */

import { expect, test } from 'bun:test';
import { backupTools } from '../../src/backup/tools.ts';
import { SQLITE } from '../../src/store/sqlite/kind.ts';

test('there are no tools for backups where the database is no file', () => {
  expect(() => backupTools({ ...SQLITE, file: null })).toThrow(
    "the database is not a file on this machine: use the tools of PostgreSQL, 'pg_dump -Fc' and " +
      "'pg_restore --clean --if-exists'",
  );
});
