/** Calls of the console about a provider: overview, links, domains, keys and staff. */

import { Type } from '@sinclair/typebox';
import { addKey, removeKey } from '../../core/account/keys.ts';
import { invite } from '../../core/account/sign-in.ts';
import { actAt } from '../../core/audit/entry.ts';
import { addDomain, deleteDomain } from '../../core/domain.ts';
import { lastDays, listFigures } from '../../core/figures.ts';
import { readDomainHash, readInstallLimit, readNote, readOneLine } from '../../core/formats.ts';
import { addInstall } from '../../core/install.ts';
import { fromStore, isRefused, Refused } from '../../core/outcome.ts';
import { refusalByPlan } from '../../core/provider.ts';
import { ownerCall, type Staff, staffCall } from './call.ts';
import { atProvider, id, inputOf, nullable, role, scope, text } from './inputs.ts';

/** Links of a page. */
const PAGE_COUNT = 50;
const OVERVIEW_DAYS = 14;
const REFUSALS_COUNT = 5;
const DAY_MS = 86_400_000;

/** Returns the refusal of a change by a provider without a subscription. */
function unpaid({ provider, nowMs }: Staff): Refused<string> | null {
  const refusal = refusalByPlan(provider, undefined, nowMs);
  return refusal && new Refused(refusal);
}

export const overviewCalls = {
  'overview.read': staffCall(atProvider({}), async ({ core, nowMs, provider }) => {
    const { fromDay, toDay } = lastDays(OVERVIEW_DAYS, nowMs);
    const of = { providerCode: provider.code, status: null, isFull: true };
    const [days, refusals, fullCount] = await Promise.all([
      listFigures(core, provider.id, fromDay, toDay),
      core.store.listRefusals(provider.id, nowMs - DAY_MS, REFUSALS_COUNT),
      core.store.countLinks(of),
    ]);
    const { activeUntilMs, code, installCount, name, plan, suspendedAtMs } = provider;
    const linkCountMax = provider.installCountMax ?? core.limits.linksPerProviderMax;
    return {
      ...{ code, name, plan, activeUntilMs, isSuspended: suspendedAtMs !== null },
      ...{ linkCount: installCount, linkCountMax, fullCount, days, refusals },
    };
  }),
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

export const domainCalls = {
  'domains.list': staffCall(atProvider({}), async ({ core, provider }) => {
    const page = { id: null, beforeId: null, countMax: core.limits.domainsPerProviderMax };
    return core.store.listDomains(provider.id, page);
  }),
  'domains.add': staffCall(
    atProvider({ hash: text(64), name: text(255) }),
    async (staff, given) => {
      const { core, nowMs, provider } = staff;
      const refusal = unpaid(staff);
      if (refusal !== null) return refusal;
      const hash = readDomainHash(given.hash);
      if (isRefused(hash)) return hash;
      const name = given.name === '' ? null : readOneLine(given.name);
      if (isRefused(name)) return name;
      return addDomain(core, provider, hash, name, nowMs);
    },
  ),
  'domains.delete': staffCall(atProvider({ id }), async (staff, given) => {
    const refusal = unpaid(staff);
    return refusal ?? deleteDomain(staff.core, staff.provider, given.id, staff.nowMs);
  }),
};

export const staffCalls = {
  'keys.list': staffCall(atProvider({}), async ({ core, provider }) => {
    const keys = await core.store.listKeys(provider.id);
    return keys.map(({ createdAtMs, id: own, name, scope: of, untilMs }) => ({
      ...{ id: own, name, scope: of, createdAtMs, untilMs },
    }));
  }),
  'keys.add': staffCall(
    atProvider({ name: text(64), scope, untilMs: nullable(Type.Integer()) }),
    ({ core, nowMs, provider }, given) => addKey(core, provider.id, given, nowMs),
  ),
  'keys.remove': staffCall(atProvider({ id }), ({ core, nowMs, provider }, given) =>
    removeKey(core, provider.id, given.id, nowMs),
  ),
  'staff.list': staffCall(atProvider({}), ({ core, provider }) =>
    core.store.listMembers(provider.id),
  ),
  'staff.invite': staffCall(atProvider({ role }), async ({ core, nowMs, provider }, given) => {
    const secret = await invite(core, { providerId: provider.id, role: given.role }, nowMs);
    return isRefused(secret) ? secret : { secret };
  }),
  'staff.change-role': staffCall(
    atProvider({ id, role }),
    async ({ core, nowMs, provider }, given) => {
      const grant = { providerId: provider.id, role: given.role };
      return fromStore(await core.store.changeRole(given.id, grant, actAt(core, nowMs)));
    },
  ),
  'staff.remove': staffCall(atProvider({ id }), async ({ core, nowMs, provider }, given) =>
    fromStore(await core.store.removeRole(given.id, provider.id, actAt(core, nowMs))),
  ),
  'providers.list': ownerCall(inputOf({}), async ({ core }) => {
    const all = await core.store.listProviders();
    return all.map(({ code, installCount, name, plan }) => ({
      ...{ code, name, plan, linkCount: installCount },
    }));
  }),
};
