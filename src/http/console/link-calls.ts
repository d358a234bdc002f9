/** Calls of the console about links. */

import { Type } from '@sinclair/typebox';
import { readInstallLimit, readNote } from '../../core/formats.ts';
import { addInstall } from '../../core/install.ts';
import { isRefused } from '../../core/outcome.ts';
import { staffCall } from './call.ts';
import { atProvider, id, nullable, text } from './inputs.ts';
import { unpaid } from './paid.ts';

/** Links of a page. */
const PAGE_COUNT = 50;

export const linkCalls = {
  'links.list': staffCall(
    atProvider({
      beforeId: nullable(id),
      search: nullable(Type.String({ minLength: 1, maxLength: 64 })),
      isFull: Type.Boolean(),
      status: nullable(Type.Union([Type.Literal(5), Type.Literal(10)])),
    }),
    async ({ core, provider }, { beforeId, isFull, search, status }) => {
      const filter = { providerCode: provider.code, beforeId, isFull, search, status };
      const found = await core.store.listLinks({ ...filter, countMax: PAGE_COUNT + 1 });
      const rows = found.slice(0, PAGE_COUNT).map((link) => ({
        ...{ id: link.id, code: link.installCode, note: link.note, status: link.status },
        ...{ limit: link.installLimit, deviceCount: link.deviceCount },
        createdAtMs: link.createdAtMs,
      }));
      return { rows, nextId: found.length > PAGE_COUNT ? (rows.at(-1)?.id ?? null) : null };
    },
  ),
  'links.add': staffCall(
    atProvider({ limit: Type.Integer(), note: text(2_000) }),
    async (staff, given) => {
      const { core, nowMs, provider } = staff;
      const refusal = unpaid(staff);
      if (refusal !== null) return refusal;
      const installLimit = readInstallLimit(given.limit);
      if (isRefused(installLimit)) return installLimit;
      const note = given.note === '' ? null : readNote(given.note);
      if (isRefused(note)) return note;
      const added = await addInstall(
        core,
        provider,
        { installCode: null, installLimit, note },
        nowMs,
      );
      return isRefused(added) ? added : { id: added.id, code: added.installCode };
    },
  ),
};
