/** Calls about cut-offs and bars: core/cut-off.ts. */

import { Type } from '@sinclair/typebox';
import { CUT, LOOK } from '../core/account/roles.ts';
import { type BarName, cancelCut, cutOff, liftBar, previewCut } from '../core/cut-off.ts';
import { DOMAIN_HASH, readHwid } from '../core/formats.ts';
import { isRefused, Refused } from '../core/outcome.ts';
import { type DoerFor, lookCall, sharedAccountCall, sharedStaffCall } from './call.ts';
import { atProvider, id, nullable, text } from './inputs.ts';

/** The most cut-offs of a page. */
export const CUTS_PAGE = 500;

export const cutCalls = {
  'cuts.list': sharedStaffCall(
    LOOK,
    [],
    { api: { path: '/api/list-cuts', needs: 'read' } },
    atProvider({
      linkId: Type.Optional(id),
      isWaiting: Type.Optional(Type.Boolean()),
      beforeId: Type.Optional(id),
    }),
    (
      { core: { store }, provider }: DoerFor,
      { beforeId = null, isWaiting = false, linkId = null },
    ) =>
      store.listCuts({
        providerId: provider.id,
        installId: linkId,
        isWaiting,
        beforeId,
        countMax: CUTS_PAGE,
      }),
  ),
  /** Returns the effect of a cut-off, for the dialog that asks. */
  'cuts.preview': lookCall(CUT, atProvider({ linkId: id }), async (staff, { linkId }) => {
    const { core, nowMs, provider } = staff;
    const found = await previewCut(core, provider, { installCode: null, installId: linkId }, nowMs);
    return found ?? new Refused('install_not_found');
  }),
  /** Cuts a link off; with a HWID frees its slot and bars it. */
  'cuts.ask': sharedAccountCall(
    CUT,
    ['cut.ask', 'hwid.delete'],
    { commands: ['link free', 'link cut-off'] },
    atProvider({ linkId: id, hwid: nullable(text(128)) }),
    async ({ core, nowMs, provider }: DoerFor, { hwid, linkId }) => {
      const read = hwid === null ? null : readHwid(hwid);
      if (isRefused(read)) return read;
      return cutOff(core, provider, { installCode: null, installId: linkId }, read, nowMs);
    },
  ),
  'cuts.cancel': sharedAccountCall(
    CUT,
    ['cut.cancel'],
    { api: { path: '/api/cancel-cut', needs: 'cuts' }, commands: ['cuts cancel'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerFor, given) => cancelCut(core, provider, given.id, nowMs),
  ),
  'bars.list': sharedStaffCall(
    LOOK,
    [],
    { api: { path: '/api/list-bars', needs: 'read' } },
    atProvider({ linkId: id }),
    async ({ core, nowMs, provider }: DoerFor, { linkId }) => {
      const link = await core.store.findLinkById(linkId);
      if (link?.providerId !== provider.id) return new Refused('install_not_found');
      return core.store.listBars(linkId, core.leastMs(nowMs));
    },
  ),
  /** Lifts the bar of a HWID, or of a hash that a list shows. */
  'bars.lift': sharedAccountCall(
    CUT,
    ['bar.lift'],
    { api: { path: '/api/lift-bar', needs: 'cuts' }, commands: ['cuts lift'] },
    atProvider({ linkId: id, hwid: Type.Optional(text(128)), hwidHash: Type.Optional(text(64)) }),
    async ({ core, nowMs, provider }: DoerFor, { hwid, hwidHash, linkId }) => {
      const read = hwid === undefined ? DOMAIN_HASH.read(hwidHash) : readHwid(hwid);
      if (isRefused(read)) return read;
      const name: BarName = hwid === undefined ? { hwidHash: read } : { hwid: read };
      return liftBar(core, provider, linkId, name, nowMs);
    },
  ),
};
