/** Calls of the console about links. */

import { Type } from '@sinclair/typebox';
import { LOOK, SEND } from '../core/account/roles.ts';
import { withFigures } from '../core/figures-filter.ts';
import { readKeyedCall } from '../core/idempotency.ts';
import { addLink } from '../core/link.ts';
import { filterAt } from '../core/link-filter.ts';
import { type LinkForm, readLink, STAFF_TERMS } from '../core/link-form.ts';
import { isRefused } from '../core/outcome.ts';
import type { LinkTerms } from '../core/port/link.ts';
import type { OwnedLink } from '../core/port/link-view.ts';
import type { ShownFigures } from '../core/port/subscription-figures.ts';
import { seesCodes, shownCode } from '../core/secret-code.ts';
import { lookCall, paidCall } from './call.ts';
import { figuresStateOf, refusedFilter } from './figures.ts';
import { atProvider, id, inputsOf, nullable, text } from './inputs.ts';
import { linkFilterInput } from './link-filter-input.ts';

/** The most links of a page: about 100 KB. */
const PAGE_COUNT_MAX = 1_000;
/** The most links that are reloaded at once. */
const IDS_MAX = 200;

/** A link as a row of the list shows it. */
const rowOf = (
  { figures, ...link }: OwnedLink & { figures: ShownFigures | null },
  isWhole: boolean,
) => ({
  id: link.id,
  code: isWhole ? link.installCode : shownCode(link.installCode),
  note: link.note,
  status: link.status,
  limit: link.installLimit,
  deviceCount: link.deviceCount,
  isCopied: link.isCopied,
  createdAtMs: link.createdAtMs,
  /** Null: not known, or not shown. */
  figures,
});

export const linkCalls = {
  /**
   * Returns a slice of the list; `nextId` is null at the end. With `ids` returns those links only.
   */
  'links.list': lookCall(
    LOOK,
    atProvider({
      filter: linkFilterInput,
      isOldest: Type.Boolean(),
      beyondId: nullable(id),
      countMax: Type.Integer({ minimum: 1, maximum: PAGE_COUNT_MAX }),
      ids: Type.Optional(Type.Array(id, { maxItems: IDS_MAX })),
    }),
    async (staff, { beyondId, countMax, filter, ids, isOldest }) => {
      const { core, provider, signedIn } = staff;
      const { store } = core;
      const refused = refusedFilter(staff, filter);
      if (refused !== null) return refused;
      const figures = figuresStateOf(staff);
      const isWhole = seesCodes(core, provider, signedIn.grants);
      const { links, nextId } =
        ids === undefined
          ? await store.listLinkSlice({
              ...filterAt(provider, filter),
              hidesCodes: !isWhole,
              beyondId,
              isOldest,
              countMax,
            })
          : { links: await store.listLinksById(provider.id, ids), nextId: null };
      const figured =
        figures === 'shown'
          ? await withFigures(core, links)
          : links.map((link) => ({ ...link, figures: null }));
      return {
        rows: figured.map((link) => rowOf(link, isWhole)),
        figures,
        nextId,
        allCount: provider.installCount,
      };
    },
  ),
  'links.add': paidCall(
    SEND,
    ['install.add'],
    atProvider({
      limit: Type.Integer(),
      note: text(2_000),
      ...inputsOf<Partial<LinkTerms>>(STAFF_TERMS),
      once: Type.Optional(text(64)),
    }),
    async ({ core, nowMs, provider }, { once = null, ...given }) => {
      const read = readLink(given);
      if (isRefused(read)) return read;
      const named = { at: provider.code, ...given };
      const keyed = readKeyedCall('add-install', once, named, core.leastMs(nowMs));
      if (isRefused(keyed)) return keyed;
      const { limit: installLimit, ...form } = read as LinkForm;
      const draft = { ...form, installCode: null, installLimit, keyed };
      const added = await addLink(core, provider, draft, nowMs);
      return isRefused(added) ? added : { id: added.id, code: added.installCode };
    },
  ),
};
