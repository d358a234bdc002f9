/** The facts of a panel that the door, the proxy, imports and the doctor need. */

import type { PanelApi } from './api.ts';
import type { PanelSchema } from './cells.ts';
import type { NoCutOff, PanelCutOff } from './credentials.ts';
import type { KeyForm } from './key-form.ts';
import type { ListReader } from './lists.ts';
import type { PanelReason, PanelRefusal } from './refusal.ts';

export interface PanelTraits {
  /** Its name for people. */
  readonly title: string;
  /** The version of which these facts are. */
  readonly version: string;
  /** The form that `key` with the name of the panel reads; `plain`: it has none of its own. */
  readonly keys: KeyForm;
  /** The least limit that limits no device, because users have it by default; null: none but 0. */
  readonly limitMeaningNone: number | null;
  /** False: it has no place where an operator sets the limit of a user. */
  readonly givesLimits: boolean;
  /** True if `;`, `%` and `&` are signs of its keys: its server cuts no segment there. */
  readonly keysHaveDelimiters: boolean;
  /** True if it compares keys byte by byte: two Unicode forms of a text are two keys. */
  readonly keysAreExact: boolean;
  /** Its status for a key that no user has; null: it closes the connection, for other paths too. */
  readonly statusOfNoUser: number | null;
  /** The segments of paths at which it gives a format whatever the app, in lower case. */
  readonly routes: Readonly<Record<'clash' | 'singBox', readonly string[]>>;
  /** True if its page for browsers has the servers of the user. */
  readonly pageHasServers: boolean;
  /** True if each of its subscriptions names an address for the button of an app. */
  readonly hasOwnButton: boolean;
  /** The query parameters that it reads with a subscription, in lower case. */
  readonly queryNames: readonly string[];
  readonly api: PanelApi;
  /** How the credentials of a user are made new, or why they cannot. */
  readonly cutOff: PanelCutOff | NoCutOff;
  /** Sentences about what an import cannot know, from its database and from its API. */
  readonly lacks: Readonly<Record<'database' | 'api', readonly string[]>>;
  /** Its own refusal of a request for a subscription. */
  refusalOf(reason: PanelReason): PanelRefusal;
  readonly database: PanelSchema;
  /** Reads all users by the API, as rows of the database. */
  readAll(reader: ListReader): Promise<void>;
}
