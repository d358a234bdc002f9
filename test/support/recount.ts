/** Counts what an appliance has stored, past the store: a page's number is compared with it. */

import type { TestApp } from './app.ts';
import { openBeside } from './database.ts';

/** Returns the first column of a statement's rows, as numbers. */
export async function counted(app: TestApp, statement: string): Promise<number[]> {
  const rows =
    app.database === null
      ? ofFile(app.dataDir, statement)
      : await app.database.sql.unsafe(statement);
  return rows.map((row: object) => Number(Object.values(row)[0]));
}

function ofFile(dataDir: string, statement: string): object[] {
  const db = openBeside(dataDir);
  try {
    return db.query<object, []>(statement).all();
  } finally {
    db.close();
  }
}
