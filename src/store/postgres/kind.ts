/** PostgreSQL as a kind of store: the database is a server's, which several nodes may share. */

import type { StoreKind } from '../kind.ts';
import type { DatabaseOptions } from './database-options.ts';

/** `place` says where it is, when it is needed; it may throw `OperatorError`. */
export function postgresKind(place: () => DatabaseOptions): StoreKind {
  return {
    // Only now: who keeps a file is not to wait for the parts that speak to a server.
    open: async (options) => (await import('./store.ts')).openPostgresStore(options, place()),
    survey: async (_, hosts) => (await import('./survey.ts')).surveyPostgres(place(), hosts),
    file: null,
  };
}
