/** The schema of the program, put into an empty database. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SQL } from 'bun';

const FOLDER = resolve(import.meta.dir, '../../migrations/postgres');

export async function migratePostgres(url: string): Promise<void> {
  const db = new SQL({
    adapter: 'postgres',
    url,
    database: new URL(url).pathname.slice(1),
    max: 1,
  });
  for (const file of readdirSync(FOLDER).sort()) {
    await db.unsafe(readFileSync(join(FOLDER, file), 'utf8')).simple();
  }
  await db.close();
}

/** Another one for each schema. */
export function schemaMark(): string {
  const texts = readdirSync(FOLDER)
    .sort()
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  return Bun.hash(texts.join()).toString(36);
}
