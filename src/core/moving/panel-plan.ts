/**
 * The plan of an import from a panel: the link of each user, the links without a user, and those of
 * replaced customers.
 */

import type { PanelUser } from '../panel/cells.ts';
import { INSTALL_DISABLED } from '../port/link.ts';
import type { PanelLink } from '../port/moving.ts';
import type { Mover } from './import.ts';
import { isAnother, keyHashesOf, type PanelRules, panelUserOf } from './panel-user.ts';

/** A user and its link; null: it has none here. */
export interface PlannedUser {
  user: PanelUser;
  panelUser: string;
  link: PanelLink | null;
  /** True: an earlier user of the list has the same id. */
  isTwice: boolean;
  /** True: the link belongs to the customer before, which this user has replaced. */
  isAnother: boolean;
}

export interface PanelPlan {
  users: readonly PlannedUser[];
  linkCount: number;
  /** Active links of users that the panel no longer has. */
  gone: readonly PanelLink[];
  /** The number of all links of such users. */
  goneCount: number;
  /** Links whose user is not seen, but only by another part of the panel. */
  outOfViewCount: number;
  anotherCount: number;
  /** Groups of users whose keys differ, but not in the Unicode form NFKC. */
  alike: readonly PanelUser[][];
}

/** Links to read at a time. */
const PAGE = 5_000;

/** Lists the existing links of the panel by user. */
async function linksHere({ core, provider }: Mover, panel: string) {
  const here = new Map<string, PanelLink>();
  for (let afterUser = ''; ; ) {
    const page = await core.store.listPanelLinks(provider.id, panel, { afterUser, countMax: PAGE });
    for (const link of page) here.set(link.panelUser, link);
    const last = page.at(-1);
    if (last === undefined) return here;
    afterUser = last.panelUser;
  }
}

/**
 * Returns the function that finds the link of a user: by the id, else by the key, since panels
 * change the ids of users, and earlier versions noted other ones. Each link is found once.
 */
function linkFinder(here: ReadonlyMap<string, PanelLink>, users: readonly UserNames[]) {
  const listed = new Set(users.map(({ panelUser }) => panelUser));
  const listedKeys = new Set(users.map(({ keys }) => keys?.now));
  const others = [...here.values()].filter(({ panelUser }) => !listed.has(panelUser));
  const byKey = new Map(others.map((link) => [link.facts.subscriptionKeyHash, link]));
  return ({ panelUser, keys }: UserNames): PanelLink | null => {
    const ofUser = here.get(panelUser);
    if (ofUser !== undefined || keys === null) return ofUser ?? null;
    // Of two users with one former key the link is that of the user who has it still.
    const isShared = listedKeys.has(keys.former);
    const found = byKey.get(keys.now) ?? (isShared ? undefined : byKey.get(keys.former));
    byKey.delete(found?.facts.subscriptionKeyHash ?? null);
    return found ?? null;
  };
}

interface UserNames {
  panelUser: string;
  keys: ReturnType<typeof keyHashesOf>;
}

/** Compares the users of a panel with the links that exist. */
export async function planPanel(
  mover: Mover,
  users: readonly PanelUser[],
  rules: PanelRules,
): Promise<PanelPlan> {
  const here = await linksHere(mover, rules.panel);
  const names = users.map((user) => ({
    panelUser: panelUserOf(rules, user),
    keys: keyHashesOf(rules, user),
  }));
  const linkOf = linkFinder(here, names);
  const seen = new Set<string>();
  const planned = names.map((name, at): PlannedUser => {
    const user = users[at] as PanelUser;
    const { panelUser } = name;
    const isTwice = seen.has(panelUser);
    const link = linkOf(name);
    seen.add(panelUser).add(link?.panelUser ?? panelUser);
    // A link that is found by its key belongs to the same customer.
    const isReplaced = link?.panelUser === panelUser && isAnother(user, link.facts);
    return { user, panelUser, link, isTwice, isAnother: isReplaced };
  });
  const unseen = [...here.values()].filter(({ panelUser }) => !seen.has(panelUser));
  const gone = unseen.filter(({ facts }) => isInView(rules.view, facts.view));
  return {
    users: planned,
    linkCount: here.size,
    alike: alikeIn(users),
    gone: gone.filter(({ status }) => status !== INSTALL_DISABLED),
    goneCount: gone.length,
    outOfViewCount: unseen.length - gone.length,
    anotherCount: planned.filter((one) => one.isAnother).length,
  };
}

/**
 * Returns true if a view of the panel shows each user that another view has shown: the whole panel
 * shows all, the API shows an admin the same users again.
 */
const isInView = (view: string, before: string | undefined) => view === '' || view === before;

function alikeIn(users: readonly PanelUser[]): PanelUser[][] {
  const odd = new Set(
    users.flatMap(({ key }) => (key === key.normalize('NFKC') ? [] : [key.normalize('NFKC')])),
  );
  if (odd.size === 0) return [];
  const groups = Map.groupBy(users, ({ key }) => key.normalize('NFKC'));
  return [...groups]
    .filter(([key, group]) => odd.has(key) && new Set(group.map((user) => user.key)).size > 1)
    .map(([, group]) => group);
}

/** Returns true if a number of links is over a tenth of all: hardly a day's change of a panel. */
export const isMany = (count: number, { linkCount }: Pick<PanelPlan, 'linkCount'>): boolean =>
  count * 10 > linkCount;
