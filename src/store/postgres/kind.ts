/** PostgreSQL as a kind of store: a server has the database, and several nodes may share it. */

import type { StoreKind } from '../kind.ts';
import type { DatabaseOptions } from './database-options.ts';

/** Makes the kind. `place` is called when a connection is needed and may throw `OperatorError`. */
export function postgresKind(place: () => DatabaseOptions): StoreKind {
  return {
    // Imported late, because an appliance on SQLite need not load these parts.
    open: async (options) => (await import('./store.ts')).openPostgresStore(options, place()),
    survey: async (_, hosts) => (await import('./survey.ts')).surveyPostgres(place(), hosts),
    file: null,
  };
}
