/** PostgreSQL as a kind of store: the database is a server's, which several nodes may share. */

import { SQL } from 'bun';
import { innermostReason } from '../../core/outcome.ts';
import { isAway } from '../../core/port/store.ts';
import { OperatorError } from '../../operator-error.ts';
import type { StoreKind } from '../kind.ts';
import type { DatabaseOptions } from './database-options.ts';

/** `place` says where it is, when it is needed; it may throw `OperatorError`. */
export function postgresKind(place: () => DatabaseOptions): StoreKind {
  return {
    // Only now: who keeps a file is not to wait for the parts that speak to a server.
    open: async (options) => {
      const { onAway, onBack, onStatement, onRetry } = options;
      const { openPostgresStore } = await import('./store.ts');
      const database = { ...place(), onAway, onBack, onStatement, onRetry };
      try {
        return await openPostgresStore(options, database);
      } catch (fault) {
        throw explained(fault, database);
      }
    },
    survey: async (_, hosts) => (await import('./survey.ts')).surveyPostgres(place(), hosts),
    file: null,
  };
}

/** A fault of the way to a database, or of its refusal to let us in, as a sentence. */
function explained(fault: unknown, { host, port, socket }: DatabaseOptions): unknown {
  if (!(fault instanceof SQL.PostgresError) && !isAway(fault)) return fault;
  const place = socket === null ? `${host}:${port}` : socket;
  return new OperatorError(`cannot use the database at ${place}: ${innermostReason(fault)}`);
}
