/** The links of users of a followed panel: changed by the code of imports. */

import type { PanelUser } from '../panel/cells.ts';
import { linkLimitOf } from '../panel/user.ts';
import type { FollowedUser } from '../port/follow.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED } from '../port/link.ts';
import type { ImportedLink, PanelFacts, PanelLink } from '../port/moving.ts';
import type { FoundLink } from '../port/panel-tie.ts';
import { randomCode } from '../secret.ts';
import { NO_TERMS } from '../slot.ts';
import type { ComingUser, FollowPassParts } from './follow-parts.ts';
import { Mover } from './import.ts';
import { importPanel } from './panel-import.ts';
import type { PanelPlan, PlannedUser } from './panel-plan.ts';
import { PanelTally } from './panel-tally.ts';
import { isAnother, keyHashesOf, type PanelRules } from './panel-user.ts';
import { Tally } from './tally.ts';

/** The facts that imports note, and the user in the panel. */
interface Origin {
  panel: string;
  id: string;
}

export class FollowedLinks {
  readonly rules: PanelRules;
  readonly #mover: Mover;

  constructor(
    private readonly parts: FollowPassParts,
    view: string,
  ) {
    const { core, nowMs, provider, rules } = parts;
    this.#mover = new Mover(core, provider, new Tally(), false, nowMs);
    this.rules = {
      panel: rules.kind,
      kind: rules.kind,
      unlimitedAs: rules.defaultLimit,
      // The panel refuses such users itself.
      disablesDisabled: false,
      view,
      nowMs: nowMs(),
    };
  }

  /** Makes or changes the links of users. Returns what to remember of them, if that changed. */
  async bring(users: readonly ComingUser[]): Promise<FollowedUser[]> {
    if (users.length === 0) return [];
    const found = await this.#find(users);
    const groups = new Map<string, PlannedUser[]>();
    const put: FollowedUser[] = [];
    for (const one of users) {
      const link = found(one);
      if (!Bun.deepEquals(one.now, one.before)) put.push(one.now);
      const { panel, planned } = this.#plan(one.user, link);
      groups.set(panel, [...(groups.get(panel) ?? []), planned]);
    }
    for (const [panel, planned] of groups) await this.#import(panel, { users: planned });
    return put;
  }

  /** Disables the links of users who are gone from the panel, if the operator chose that. */
  async end(users: readonly FollowedUser[]): Promise<void> {
    const { core, provider, rules } = this.parts;
    if (users.length === 0 || rules.gone !== 'disable') return;
    const links = await core.store.listTiedLinks(
      provider.id,
      users.map(({ keyHash }) => keyHash),
    );
    const gone: PanelLink[] = [];
    for (const link of links) {
      const user = await core.store.findFollowed(rules.host, link.subscriptionKeyHash ?? '');
      // Another user has the key now.
      if (user !== null && user.missedCount === 0) continue;
      const { facts, panelUser } = link;
      if (facts === null || panelUser === null || link.status === INSTALL_DISABLED) continue;
      gone.push({ ...link, facts, panelUser });
    }
    await this.#import(rules.kind, { gone });
  }

  /** Finds links by the keys that users have, or had at the last pass. */
  async #find(users: readonly ComingUser[]) {
    const { core, provider } = this.parts;
    const hashesOf = ({ user, before }: ComingUser) => {
      const keys = keyHashesOf(this.rules, user);
      const all = keys === null ? [] : [keys.now, keys.former];
      return [...all, ...(before === null ? [] : [before.keyHash])];
    };
    const hashes = [...new Set(users.flatMap(hashesOf))];
    const links = await core.store.listTiedLinks(provider.id, hashes);
    const byKey = new Map(links.map((link) => [link.subscriptionKeyHash, link]));
    await this.#noteFirst(links);
    return (user: ComingUser): PanelLink | null => {
      const link = hashesOf(user)
        .map((hash) => byKey.get(hash))
        .find((one) => one !== undefined);
      return link === undefined ? null : this.#panelLink(link);
    };
  }

  /**
   * Notes facts for links that no import has seen: from then on what differs from them was changed
   * by hand. A note that they have stays.
   */
  async #noteFirst(links: readonly FoundLink[]): Promise<void> {
    const first = links.filter(({ facts }) => facts === null);
    const installs = first.map((link): ImportedLink => {
      const { installLimit, note, ...facts } = firstFacts(link);
      return {
        id: null,
        installCode: link.installCode,
        panelUser: nameOf(this.#originOf(link)),
        createdAtMs: 0,
        slots: [],
        installLimit,
        note,
        status: facts.status,
        terms: { ...NO_TERMS, subscriptionKeyHash: facts.subscriptionKeyHash },
        ...(link.panelUser !== null && { panel: { formerUser: link.panelUser } }),
      };
    });
    if (installs.length > 0) await this.#mover.installs(installs);
  }

  #panelLink(link: FoundLink): PanelLink {
    const panelUser = nameOf(this.#originOf(link));
    return { ...link, panelUser, facts: link.facts ?? firstFacts(link) };
  }

  /** Returns the user by which a link is noted; a label of an import stays. */
  #originOf({ panelUser, subscriptionKeyHash }: FoundLink): Origin {
    const { kind } = this.parts.rules;
    const [, panel, id] = /^([^:]+):(.*)$/s.exec(panelUser ?? '') ?? [];
    const isOfKind = panel === kind || panel?.startsWith(`${kind}/`);
    return isOfKind && panel !== undefined && id !== undefined
      ? { panel, id }
      : { panel: kind, id: subscriptionKeyHash ?? randomCode(12) };
  }

  #plan(user: PanelUser, link: PanelLink | null) {
    const { gone, kind, withNotes } = this.parts.rules;
    const hash = keyHashesOf(this.rules, user)?.now ?? '';
    const [panel = kind, id = hash] = link === null ? [] : partsOf(link.panelUser);
    const isReplaced = link !== null && isAnother(user, link.facts) && isNamed(user, id);
    const planned: PlannedUser = {
      user: {
        ...user,
        id,
        note: withNotes ? user.note : (link?.facts.note ?? ''),
        limit: this.#limitOf(user),
      },
      panelUser: `${panel}:${id}`,
      link,
      isTwice: false,
      // Its devices are those of the customer before.
      isAnother: isReplaced && gone === 'disable',
    };
    return { panel, planned };
  }

  /** Returns the limit that the panel sets for the link of a user; null: none. */
  #limitOf({ limit, isUnlimited }: PanelUser): number | null {
    const { limits, unlimitedAs } = this.parts.rules;
    if (limits === 'own') return null;
    return linkLimitOf(isUnlimited ? 'unlimited' : limit, unlimitedAs);
  }

  async #import(panel: string, part: Partial<Pick<PanelPlan, 'users' | 'gone'>>): Promise<void> {
    const plan: PanelPlan = {
      users: [],
      gone: [],
      linkCount: 0,
      goneCount: 0,
      outOfViewCount: 0,
      anotherCount: 0,
      alike: [],
      ...part,
    };
    await importPanel(this.#mover, plan, new PanelTally(), {
      ...this.rules,
      panel,
      disablesGone: true,
      lowersExisting: false,
      updates: false,
      isCheck: false,
      isStopped: () => false,
      onStep: () => {},
    });
  }
}

const nameOf = ({ panel, id }: Origin) => `${panel}:${id}`;

const partsOf = (panelUser: string) => {
  const at = panelUser.indexOf(':');
  return [panelUser.slice(0, at), panelUser.slice(at + 1)];
};

/** Returns whether the id of a user is a name that the panel may give to another one. */
const isNamed = (user: PanelUser, id: string): boolean => user.id === user.key || user.id === id;

/** Returns first facts of a link; if it is disabled, that was done by hand. */
const firstFacts = ({ installLimit, subscriptionKeyHash }: FoundLink): PanelFacts => ({
  installLimit,
  status: INSTALL_ACTIVE,
  note: null,
  subscriptionKeyHash,
  devicesUntilMs: 0,
});
