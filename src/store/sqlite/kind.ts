/** SQLite as a kind of store: the database is one file in the data directory. */

import type { StoreKind } from '../kind.ts';
import { Inspection, ReplacementFile } from './file/arrival.ts';
import { refuseNewer } from './file/migrate.ts';
import { takeSnapshot } from './file/snapshot.ts';
import { surveyDatabase } from './file/survey.ts';
import { openSqliteStore } from './store.ts';

export const SQLITE: StoreKind = {
  open: openSqliteStore,
  survey: async (dataDir) => surveyDatabase(dataDir),
  file: {
    takeSnapshot,
    refuseNewer,
    inspect: (folders) => new Inspection(folders),
    replace: (dataDir) => new ReplacementFile(dataDir),
  },
};
