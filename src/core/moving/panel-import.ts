/** Imports the users of a panel as links. The import can be repeated. */

import { isRefused } from '../outcome.ts';
import { INSTALL_DISABLED } from '../port/install.ts';
import type { ImportedInstall, PanelFacts, PanelLink } from '../port/moving.ts';
import { NO_TERMS } from '../slot.ts';
import { nextTurn } from '../turn.ts';
import type { Mover } from './import.ts';
import { isLimit, linkOfUser, type PanelRules, type PanelUser, panelUserOf } from './panel-user.ts';
import type { Tally } from './tally.ts';

interface PanelOptions extends PanelRules {
  /** True: disables links of users that the panel no longer has. */
  disablesGone: boolean;
  /** True: links take the panel's terms even if those did not change since the last import. */
  updates: boolean;
  /** True: stores nothing. */
  isCheck: boolean;
  isStopped(): boolean;
  onStep(): void;
}

/** Links to read at a time, and links to store at a time. A kill loses at most the latter. */
const PAGE = 5_000;
const CHUNK = 50;

/** The counts of users and devices; a {@link Tally} has those of links. */
export class PanelTally {
  users = 0;
  devices = 0;
  disabled = 0;
  /** Users without a limit, or above 100. Some are omitted; others keep the limit of their link. */
  unlimited = 0;
  leftOut = 0;
  keptLimit = 0;
  devicesUnusable = 0;
  /** Links with more devices than their limit. */
  overLimit = 0;
  /** Links of users that the panel no longer has. */
  gone = 0;
}

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

/** Returns true if the panel's terms are those of the last import. */
function isSame(install: ImportedInstall, before: PanelFacts): boolean {
  const { installLimit, status, note, terms, slots } = install;
  return (
    before.installLimit === installLimit &&
    before.status === status &&
    before.note === note &&
    before.subscriptionKeyHash === terms?.subscriptionKeyHash &&
    slots.every(({ registeredAtMs }) => registeredAtMs <= before.devicesUntilMs)
  );
}

/** Imports the users of a panel. A kill loses no stored link, and the next run continues. */
export async function importPanel(
  mover: Mover,
  users: readonly PanelUser[],
  panel: PanelTally,
  options: PanelOptions,
): Promise<void> {
  const here = await linksHere(mover, options.panel);
  const seen = new Set<string>();
  mover.tally.linksListed = users.length;
  for (let at = 0; at < users.length && !options.isStopped(); at += CHUNK) {
    const some = users.slice(at, at + CHUNK).flatMap((user) => {
      const install = draftOf(mover.tally, panel, user, here, seen, options);
      if (install === null) mover.tally.linksDone += 1;
      return install ?? [];
    });
    if (options.isCheck) mover.tally.linksDone += some.length;
    else await mover.installs(some);
    options.onStep();
    await nextTurn();
  }
  if (!options.isStopped()) await endGone(mover, panel, here, seen, options);
}

/** Returns the link of a user; null: nothing to store. */
function draftOf(
  tally: Tally,
  panel: PanelTally,
  user: PanelUser,
  here: ReadonlyMap<string, PanelLink>,
  seen: Set<string>,
  options: PanelOptions,
): ImportedInstall | null {
  const panelUser = panelUserOf(options, user);
  const before = here.get(panelUser)?.facts;
  panel.users += 1;
  panel.devices += user.devices.length;
  if (user.isDisabled) panel.disabled += 1;
  const isKnown = seen.has(panelUser);
  seen.add(panelUser);
  const draft = isKnown ? null : linkOfUser(user, before, options);
  if (isKnown || isRefused(draft)) {
    tally.unusable += 1;
    const why = isRefused(draft) ? draft.detail : 'the panel lists it twice';
    tally.problem(`user ${user.name}: ${why}`);
    return null;
  }
  if (!isLimit(user.limit)) panel.unlimited += 1;
  if (draft === null) {
    panel.leftOut += 1;
    return null;
  }
  if (!isLimit(user.limit) && before !== undefined) panel.keptLimit += 1;
  const { install, unusable, isMended } = draft;
  panel.devicesUnusable += unusable;
  if (install.overMax !== undefined) panel.overLimit += 1;
  if (isMended) tally.mended += 1;
  if (before === undefined || options.updates || !isSame(install, before)) return install;
  tally.links.present += 1;
  tally.slots.present += install.slots.length;
  return null;
}

/**
 * Counts the links of users that the panel no longer has, and disables them with `disablesGone`.
 */
async function endGone(
  mover: Mover,
  panel: PanelTally,
  here: ReadonlyMap<string, PanelLink>,
  seen: ReadonlySet<string>,
  { disablesGone, isCheck, onStep }: PanelOptions,
): Promise<void> {
  const gone = [...here.values()].filter(({ panelUser }) => !seen.has(panelUser));
  panel.gone = gone.length;
  if (!disablesGone || isCheck) return;
  const enabled = gone.filter(({ facts }) => facts.status !== INSTALL_DISABLED);
  for (let at = 0; at < enabled.length; at += CHUNK) {
    const ended = enabled.slice(at, at + CHUNK).map(
      ({ installCode, panelUser, facts }): ImportedInstall => ({
        ...{ id: null, installCode, panelUser, createdAtMs: 0, slots: [] },
        ...{ installLimit: facts.installLimit, note: facts.note, status: INSTALL_DISABLED },
        terms: { ...NO_TERMS, subscriptionKeyHash: facts.subscriptionKeyHash },
      }),
    );
    await mover.installs(ended);
    onStep();
    await nextTurn();
  }
}
