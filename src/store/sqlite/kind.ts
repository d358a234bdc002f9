/** SQLite as a kind of store: the database is one file in the data directory. */

import type { StoreKind } from '../kind.ts';
import { Inspection } from './file/inspection.ts';
import { refuseNewer } from './file/migrate.ts';
import { ReplacementFile } from './file/replace.ts';
import { takeSnapshot } from './file/snapshot.ts';
import { surveyDatabase } from './file/survey.ts';
import { openSqliteStore } from './store.ts';

export const SQLITE: StoreKind = {
  open: openSqliteStore,
  survey: async (dataDir, hosts) => surveyDatabase(dataDir, hosts),
  file: {
    takeSnapshot,
    refuseNewer,
    inspect: (folders) => new Inspection(folders),
    replace: (dataDir) => new ReplacementFile(dataDir),
  },
};
