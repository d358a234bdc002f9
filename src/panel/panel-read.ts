/** Reads the users of a panel from its database or its API. */

import { VERSION } from '../base/version.ts';
import { type PanelUser, withoutDevices } from '../core/panel/cells.ts';
import { PANEL_TRAITS } from '../core/panel/index.ts';
import type { PanelKind } from '../core/panel/kind.ts';
import { readPanelApi } from './panel-api.ts';
import { readPanelFile } from './panel-file.ts';
import type { Reading } from './rows.ts';

/** The panel to read: a file, with `-` for standard input, or an API. */
export type PanelJob = {
  panel: PanelKind;
  /** True: users alone, without their devices. */
  isOfUsers?: boolean;
} & (
  | { path: string }
  | {
      url: string;
      token: string;
      /** Further headers, for an access gateway. */
      headers: Readonly<Record<string, string>>;
      callsPerSecondMax: number;
    }
);

/** The users of a panel, and the admin who alone sees them; empty: these are all users. */
export interface PanelReading<Users = PanelUser[]> {
  users: Users;
  view: string;
}

interface PanelCalls extends Reading {
  sleep(ms: number): Promise<void>;
  onProgress(done: number, total: number): void;
}

/** Returns the name of the source in messages. */
export const originOf = (job: PanelJob): string =>
  'url' in job ? job.url : job.path === '-' ? 'stdin' : job.path;

/** Reads all users. Throws `OperatorError`; its text never has the token. */
export async function readPanel(
  job: PanelJob,
  reading: PanelCalls,
): Promise<PanelReading<Iterable<PanelUser>>> {
  const { panel, isOfUsers = false } = job;
  const { database } = PANEL_TRAITS[panel];
  const schema = isOfUsers ? withoutDevices(database) : database;
  const userAgent = `gatepost-${isOfUsers ? 'follow' : 'import'}/${VERSION}`;
  const { rows, view } =
    'url' in job
      ? await readPanelApi(panel, { ...job, ...reading, schema, userAgent })
      : { rows: await readPanelFile(job.path, panel, { ...reading, schema }), view: '' };
  return { users: schema.readUsers(rows), view };
}
