/** PostgreSQL as a kind of store: the database is a server's, which several nodes may share. */

import type { StoreKind } from '../kind.ts';
import type { DatabaseOptions } from './database-options.ts';

/** Makes the kind. `place` is called when a connection is needed; may throw `OperatorError`. */
export function postgresKind(place: () => DatabaseOptions): StoreKind {
  return {
    // Imported late: an appliance on SQLite need not load these parts.
    open: async (options) => (await import('./store.ts')).openPostgresStore(options, place()),
    survey: async (_, hosts) => (await import('./survey.ts')).surveyPostgres(place(), hosts),
    file: null,
  };
}
