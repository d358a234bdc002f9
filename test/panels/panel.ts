/** A real panel that runs, as all checks see it. `panels/` has one file for each. */

import type { PanelKind } from '../../src/core/panel/kind.ts';

/** The panels that run without packages of their makers. */
export type RealKind = Exclude<PanelKind, 'remnawave'>;

/** What a customer may be at a panel. */
export type State = 'active' | 'disabled' | 'expired' | 'used-up' | 'on-hold';

export interface UserSpec {
  name: string;
  note?: string;
  /** The devices that the panel allows; left out: as the panel has it for everybody. */
  limit?: number;
  /** Default: active. */
  state?: State;
  /** The key of the subscription, where the panel takes one from outside (3x-ui). */
  key?: string;
}

export interface Customer {
  name: string;
  /** The number, name or UUID by which the API of the panel knows the customer. */
  id: string;
  key: string;
  /** The address of the subscription, without its host. */
  path: string;
}

/** A way to a subscription, or beside it. */
export interface Route {
  name: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
}

/** Customers, by the panel's own API alone: nothing here writes its database. */
export interface Users {
  /** The states that the API can bring about. */
  readonly states: readonly State[];
  add(spec: UserSpec): Promise<Customer>;
  change(customer: Customer, spec: Pick<UserSpec, 'note' | 'limit'>): Promise<void>;
  /** `active` renews a customer who ended. Resolves when the panel itself says the state. */
  setState(customer: Customer, state: State): Promise<void>;
  /** Returns the customer under the new name; throws where the panel cannot. */
  rename(customer: Customer, name: string): Promise<Customer>;
  remove(customer: Customer): Promise<void>;
  /** The devices that the panel itself counted; null: it counts none. */
  deviceCount(customer: Customer): Promise<number | null>;
}

/** The database of the panel, for dumps: a file, or a URL such as `mysql://…`. */
export type Database =
  | { kind: 'sqlite'; file: string }
  | { kind: 'mariadb' | 'postgres'; url: string };

/** An admin who sees the users alone whom he made. */
export interface SecondAdmin {
  /** As the API names the admin of the token. */
  name: string;
  token: string;
  add(name: string): Promise<Customer>;
}

export interface RealPanel {
  kind: RealKind;
  version: string;
  /** What it was built from: a commit, or a package with its version. */
  commit: string;
  /** Where the subscriptions answer. */
  url: string;
  /** The lines of its page in `docs/` for `[[gate.upstream]]`, `url` among them. */
  lines: string;
  /** What `import --from` and `panel_url` take, with a token. */
  api: { url: string; token: string };
  database: Database;
  /** Makes one; absent: each token shows all users. */
  secondAdmin?: () => Promise<SecondAdmin>;
  users: Users;
  /** Names and notes of every script that it allows, the shortest and the longest. */
  odd: readonly UserSpec[];
  /** The ways on which the panel gives this customer's servers, and nothing but servers. */
  routes(customer: Customer): readonly Route[];
  /** Ends it and starts it again with its data, on the same ports. */
  restart(): Promise<void>;
}
