/** The schema of the program, put into an empty database. */

import { MIGRATIONS, migrate, withConnection } from '../../src/store/postgres/migrate.ts';

export async function migratePostgres(url: string): Promise<void> {
  const options = { adapter: 'postgres', url, database: new URL(url).pathname.slice(1) } as const;
  await withConnection(options, (ask) => migrate(ask, { create: true, migrates: true }));
}

/** Another one for each schema. */
export function schemaMark(): string {
  return Bun.hash(MIGRATIONS.join()).toString(36);
}
