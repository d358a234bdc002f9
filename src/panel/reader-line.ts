/** The lines of JSON by which the process that reads a panel reports to the import. */

import type { ErrorCode } from '../base/operator-error.ts';
import type { ListedUser, Listing } from '../core/moving/follow-user.ts';
import type { PanelUser } from '../core/panel/cells.ts';
import type { PanelJob } from './panel-read.ts';

/** The first word of the command line of that process. */
export const PANEL_READER = 'panel-reader';

/** The argument after that word, as JSON. */
export interface ReaderTask {
  /** Without the secrets of an API, which come on stdin: process lists show arguments. */
  job: PanelJob;
  /** Is removed at the end of the import. */
  folder: string;
  importPid: number;
}

/** The content of stdin, as JSON. */
export interface ReaderInput {
  /** The secrets of an API. */
  secrets: { token: string; headers: Readonly<Record<string, string>> };
  /** For `follow`; null: the users come as they are. */
  listing: Listing | null;
}

/** A line; an empty one says that rows come. */
export interface ReaderLine {
  /** Records of an API that are read, and their number. */
  progress?: [done: number, total: number];
  view?: string;
  user?: PanelUser;
  /** A user for `follow`, in the order of their hashes. */
  listed?: ListedUser;
  /** All users came once for `follow`, and come once more. */
  isRound?: true;
  failed?: { code: ErrorCode; message: string };
  /** The last line. */
  isWhole?: true;
}
