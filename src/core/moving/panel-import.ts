/** Imports the users of a panel as links. The import can be repeated. */

import { actAt } from '../audit/entry.ts';
import { isRefused } from '../outcome.ts';
import { INSTALL_DISABLED } from '../port/link.ts';
import type { ImportedLink, PanelFacts, PanelLink } from '../port/moving.ts';
import { NO_TERMS } from '../slot.ts';
import { nextTurn } from '../turn.ts';
import type { Mover } from './import.ts';
import type { PanelPlan, PlannedUser } from './panel-plan.ts';
import type { PanelTally } from './panel-tally.ts';
import { isLimit, linkOfUser, NO_KEY, type PanelRules } from './panel-user.ts';
import type { Tally } from './tally.ts';

interface PanelOptions extends PanelRules {
  /** True: disables links of users that the panel no longer has. */
  disablesGone: boolean;
  /** True: lowers the limits that earlier imports chose for users without one. */
  lowersExisting: boolean;
  /** True: links take the panel's terms even if those did not change since the last import. */
  updates: boolean;
  /** True: stores nothing. */
  isCheck: boolean;
  isStopped(): boolean;
  onStep(): void;
}

/** Links to store at a time: a kill loses at most these. */
const CHUNK = 50;

/** Returns true if the panel's terms are those of the last import. */
function isSame(
  { panelUser, installLimit, status, note, terms, slots, panel }: ImportedLink,
  link: PanelLink,
): boolean {
  const before: PanelFacts = link.facts;
  return (
    link.panelUser === panelUser &&
    before.installLimit === installLimit &&
    (panel?.keepsStatus || before.status === status) &&
    before.note === note &&
    before.subscriptionKeyHash === terms?.subscriptionKeyHash &&
    before.isPanelLimit === panel?.isPanelLimit &&
    before.panelCreatedAtMs === panel?.panelCreatedAtMs &&
    before.view === panel?.view &&
    slots.every(({ registeredAtMs }) => registeredAtMs <= before.devicesUntilMs)
  );
}

/** Imports the users of a panel. A kill loses no stored link, and the next run continues. */
export async function importPanel(
  mover: Mover,
  plan: PanelPlan,
  panel: PanelTally,
  options: PanelOptions,
): Promise<void> {
  const { users, alike, goneCount, outOfViewCount } = plan;
  mover.tally.linksListed = users.length;
  for (const group of alike) panel.addAlike(group.map(({ name }) => name));
  for (let at = 0; at < users.length && !options.isStopped(); at += CHUNK) {
    const some: ImportedLink[] = [];
    for (const one of users.slice(at, at + CHUNK)) {
      const install = draftOf(mover.tally, panel, one, options);
      if (install === null) mover.tally.linksDone += 1;
      else if (one.isAnother && one.link !== null && !options.isCheck) await end(mover, one.link);
      if (install !== null) some.push(install);
    }
    if (options.isCheck) mover.tally.linksDone += some.length;
    else await mover.installs(some);
    options.onStep();
    await nextTurn();
  }
  if (options.isStopped()) return;
  Object.assign(panel, { gone: goneCount, outOfView: outOfViewCount });
  if (options.disablesGone && !options.isCheck) await disableGone(mover, plan.gone, options);
}

/** Ends the link of a replaced customer; the next one may have its key. */
async function end({ core, provider, nowMs }: Mover, { id }: PanelLink): Promise<void> {
  await core.store.removeLink(provider.id, id, actAt(core, nowMs()), true);
}

/** Returns the link of a user; null: nothing to store. */
function draftOf(
  tally: Tally,
  panel: PanelTally,
  one: PlannedUser,
  options: PanelOptions,
): ImportedLink | null {
  const { user, isTwice, isAnother } = one;
  const link = isAnother ? null : one.link;
  panel.users += 1;
  panel.devices += user.devices.length;
  if (user.isDisabled) panel.disabled += 1;
  const draft = linkOfUser(user, link?.facts, options);
  if (isRefused(draft)) {
    omit(tally, panel, one, draft.detail);
    return null;
  }
  if (isTwice) {
    tally.unusable += 1;
    tally.problem(`user ${user.name}: the panel lists it twice`);
    return null;
  }
  if (!isLimit(user.limit)) panel.unlimited += 1;
  if (draft === null) {
    panel.leftOut += 1;
    return null;
  }
  if (isAnother) panel.replaced += 1;
  const { install, unusable, isMended } = draft;
  panel.devicesUnusable += unusable;
  if (install.overMax !== undefined) panel.overLimit += 1;
  if (isMended) tally.mended += 1;
  if (link === null) {
    panel.addLimit(install.installLimit);
    return install;
  }
  return changeOf(tally, panel, install, link, options);
}

/** Returns the change of an existing link; null: there is none. */
function changeOf(
  tally: Tally,
  panel: PanelTally,
  draft: ImportedLink & { panel: { isPanelLimit?: boolean } },
  link: PanelLink,
  { lowersExisting, unlimitedAs, updates }: PanelOptions,
): ImportedLink | null {
  const { installCode, panelUser, facts } = link;
  const isOfImport = facts.installLimit === link.installLimit;
  const { isPanelLimit } = draft.panel;
  const isLowered = lowersExisting && !isPanelLimit && isOfImport && unlimitedAs !== null;
  const installLimit = isLowered ? Math.min(draft.installLimit, unlimitedAs) : draft.installLimit;
  const isTaken = isOfImport || updates;
  panel.addLimit(isTaken ? installLimit : link.installLimit);
  if (installLimit < draft.installLimit) panel.lowered += 1;
  else if (!isPanelLimit) panel.keptLimit += 1;
  if (draft.panel.keepsStatus && facts.status === INSTALL_DISABLED) panel.keptDisabled += 1;
  const install = {
    ...draft,
    installCode,
    installLimit,
    panel: { ...draft.panel, formerUser: panelUser },
  };
  if (updates || !isSame(install, link)) return install;
  tally.links.present += 1;
  tally.slots.present += install.slots.length;
  return null;
}

/** Counts a user that no link can serve. */
function omit(tally: Tally, panel: PanelTally, { user }: PlannedUser, why: string): void {
  if (why === NO_KEY.detail) panel.withoutKey += 1;
  else {
    tally.unusable += 1;
    panel.addUnserved({ user: user.name, why });
  }
  tally.problem(`user ${user.name}: ${why}`);
}

/** Disables the links of users that the panel no longer has. */
async function disableGone(
  mover: Mover,
  gone: readonly PanelLink[],
  { onStep }: PanelOptions,
): Promise<void> {
  for (let at = 0; at < gone.length; at += CHUNK) {
    const ended = gone.slice(at, at + CHUNK).map(
      ({ installCode, panelUser, facts }): ImportedLink => ({
        id: null,
        installCode,
        panelUser,
        createdAtMs: 0,
        slots: [],
        installLimit: facts.installLimit,
        note: facts.note,
        status: INSTALL_DISABLED,
        terms: { ...NO_TERMS, subscriptionKeyHash: facts.subscriptionKeyHash },
        panel: userFactsOf(facts),
      }),
    );
    await mover.installs(ended);
    onStep();
    await nextTurn();
  }
}

/** Returns the facts of a user beside the terms of its link. */
function userFactsOf({ isPanelLimit, panelCreatedAtMs, view }: PanelFacts) {
  return {
    ...(isPanelLimit !== undefined && { isPanelLimit }),
    ...(panelCreatedAtMs !== undefined && { panelCreatedAtMs }),
    ...(view !== undefined && { view }),
  };
}
