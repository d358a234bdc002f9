/** The facts of a panel about the links that were imported from it. */

import { keptStatus, type Merged, mergePanel, type PanelTerms } from '../../core/moving/merge.ts';
import { INSTALL_ACTIVE, INSTALL_DISABLED, type Link } from '../../core/port/link.ts';
import type {
  ImportedLink,
  ImportedSlot,
  ImportStore,
  PanelFacts,
} from '../../core/port/moving.ts';
import type { Backend, Statements, Step } from '../backend.ts';
import { columns, sql } from '../statement-text.ts';
import { SET_LIMIT } from './link-rows.ts';

/** The columns of a link from a panel; null: it has another origin. */
export interface FromPanel {
  panelUser: string | null;
  /** {@link PanelFacts} as JSON. */
  panelFacts: string | null;
}

export const FROM_PANEL = columns('install', 'panelUser, panelFacts');

/**
 * Condition for links `i` that an import disabled, whose state is still the import's:
 * `isDisabledByImport` of core/panel/proof.ts. In a note of the facts quotes are escaped.
 */
export const DISABLED_BY_IMPORT = sql.raw(`(i.status = ${INSTALL_DISABLED}
  AND (i.panel_facts LIKE '%"status":${INSTALL_DISABLED},%'
    OR i.panel_facts LIKE '%"status":${INSTALL_DISABLED}}'))`);

/** The facts of a link after its provider disabled it, which the import did not. */
export const FACTS_SUPERSEDED = sql.raw(
  `replace(panel_facts, '"status":${INSTALL_DISABLED}', '"status":${INSTALL_ACTIVE}')`,
);

type Known = PanelTerms & FromPanel & Pick<Link, 'id' | 'deviceCount'>;

const readFacts = (text: string | null): PanelFacts | null =>
  text === null ? null : JSON.parse(text);

/** Returns true unless the link belongs to another user of the same panel. */
export function isOfUser({ panelUser }: FromPanel, wanted: string, former?: string): boolean {
  const panelIn = (user: string) => user.slice(0, user.indexOf(':'));
  if (panelUser === null || panelUser === wanted || panelUser === former) return true;
  return panelIn(panelUser) !== panelIn(wanted);
}

/** Returns the time up to which the devices of a panel were imported, if some found no room. */
function devicesUntil(
  beforeMs: number,
  came: readonly ImportedSlot[],
  left: readonly ImportedSlot[],
) {
  const leftMs = left.reduce((first, slot) => Math.min(first, slot.registeredAtMs), Infinity);
  return came.reduce(
    (last, { registeredAtMs }) => (registeredAtMs < leftMs ? Math.max(last, registeredAtMs) : last),
    beforeMs,
  );
}

export function panelLinkSteps({ prepare }: Statements) {
  const keep = prepare(sql`
      UPDATE install SET panel_user = :panelUser, panel_facts = :panelFacts WHERE id = :id`);
  return {
    merge: <Row extends Known>(known: Row, wanted: PanelTerms, updates: boolean): Merged<Row> =>
      mergePanel(known, readFacts(known.panelFacts), wanted, updates),

    /** Returns the devices that the panel has seen since the last import. */
    newSlots(known: FromPanel, slots: readonly ImportedSlot[]): readonly ImportedSlot[] {
      const untilMs = readFacts(known.panelFacts)?.devicesUntilMs ?? -1;
      return slots.filter(({ registeredAtMs }) => registeredAtMs > untilMs);
    },

    /**
     * Saves the facts of the panel after its devices were imported, except those that were `left`.
     */
    *keep(
      known: FromPanel & Pick<Link, 'id' | 'status'>,
      { panelUser, panel = {} }: Pick<ImportedLink, 'panelUser' | 'panel'>,
      terms: PanelTerms,
      came: readonly ImportedSlot[],
      left: readonly ImportedSlot[],
    ): Step<void> {
      const before = readFacts(known.panelFacts);
      const { installLimit, note, subscriptionKeyHash } = terms;
      const { keepsStatus = false, formerUser: _, ...ofUser } = panel;
      const status = keepsStatus ? keptStatus(known, before) : terms.status;
      const devicesUntilMs = devicesUntil(before?.devicesUntilMs ?? 0, came, left);
      const facts: PanelFacts = {
        installLimit,
        status,
        note,
        subscriptionKeyHash,
        devicesUntilMs,
        ...ofUser,
      };
      const panelFacts = JSON.stringify(facts);
      if (known.panelUser === panelUser && known.panelFacts === panelFacts) return;
      yield* keep.run({ id: known.id, panelUser: panelUser ?? null, panelFacts });
    },
  };
}

export function panelLinkNoun(
  backend: Backend,
): Pick<ImportStore, 'listPanelLinks' | 'findPanelFacts'> {
  const { prepare, bytes } = backend;
  const list = prepare(sql`
      SELECT ${columns(
        'install',
        'id, installCode, deviceCount, status, panelUser!, panelFacts!',
      )}, ${SET_LIMIT}
      FROM install
      WHERE provider_id = :providerId AND panel_user > :after AND panel_user < :end
        AND panel_facts IS NOT NULL
      ORDER BY panel_user LIMIT :countMax`);
  const find = prepare(sql`
      SELECT ${FROM_PANEL} FROM install
      WHERE subscription_key_hash = ${bytes('subscriptionKeyHash')} AND provider_id = :providerId`);
  return {
    listPanelLinks: (providerId, panel, { afterUser, countMax }) =>
      backend.read(function* () {
        // `;` is the character after `:`.
        const after = afterUser || `${panel}:`;
        const rows = yield* list.all({ providerId, after, end: `${panel};`, countMax });
        return rows.map(({ panelFacts, ...row }) => ({
          ...row,
          facts: JSON.parse(panelFacts) as PanelFacts,
        }));
      }),

    findPanelFacts: (providerId, subscriptionKeyHash) =>
      backend.read(function* () {
        const found = yield* find.get({ providerId, subscriptionKeyHash });
        return readFacts(found?.panelFacts ?? null);
      }),
  };
}
