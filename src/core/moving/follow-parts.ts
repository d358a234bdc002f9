/** The parts of a pass over a followed panel. */

import type { Core } from '../core.ts';
import type { PanelUser } from '../panel/cells.ts';
import type { PanelKind } from '../panel/kind.ts';
import type { Follow, FollowedUser, FollowHold } from '../port/follow.ts';
import type { Provider } from '../port/provider.ts';

/** The rules of an upstream by which its panel is followed. */
export interface FollowRules {
  host: string;
  kind: PanelKind;
  /** `panel`: links take their limits from the panel. */
  limits: 'own' | 'panel';
  /** The limit of links whose user has none in the panel. */
  unlimitedAs: number;
  /** The limit of new links for which the panel says none. */
  defaultLimit: number;
  gone: 'tell' | 'disable';
  withNotes: boolean;
}

export interface FollowPassParts {
  /** With the panel as its actor. */
  core: Core;
  provider: Provider;
  follow: Follow;
  rules: FollowRules;
  nowMs(): number;
  /** True: the pass keeps figures too; at most once an hour. */
  readsFigures: boolean;
  hold(): FollowHold;
  /** Ends the pass between two steps. */
  signal: AbortSignal;
}

/** A user of the panel that is new, or not as it is remembered. */
export interface ComingUser {
  user: PanelUser;
  before: FollowedUser | null;
  now: FollowedUser;
}
