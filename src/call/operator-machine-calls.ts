/** Calls of the console about the appliance: audit log, settings, nodes and health. */

import { Type } from '@sinclair/typebox';
import { holds, OPERATE } from '../core/account/roles.ts';
import { auditHead, headText } from '../core/audit/chain.ts';
import { providerOf } from '../core/audit/entry.ts';
import { ACTION_GROUPS, ACTOR_KINDS, pageAudit } from '../core/audit/page.ts';
import { Refused } from '../core/outcome.ts';
import { hwidHash } from '../core/secret.ts';
import { newerVersion } from '../core/upkeep.ts';
import { type Owner, watchCall } from './call.ts';
import { anyOf, id, inputOf, nullable, text } from './inputs.ts';

const PAGE_COUNT = 50;
/** The wait for a check, s: it takes at most two minutes. */
const CHECK_PATIENCE_SECONDS = 150;
/** The age of a heartbeat, sent each 5 s, after which the node counts as silent, ms. */
const SILENT_MS = 15_000;

const time = nullable(Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 }));

/** Returns the head of the chain, and the last verification at this node. */
async function chainOf({ appliance, core }: Owner) {
  const head = await auditHead(core);
  const last = appliance.auditCheck.last();
  return {
    head: head && headText(head),
    entryCount: head?.number ?? 0,
    check: last && { atMs: last.atMs, ...last.result },
  };
}

export const operatorMachineCalls = {
  'audit.list': watchCall(
    inputOf({
      provider: nullable(text(8)),
      who: nullable(anyOf(ACTOR_KINDS)),
      group: nullable(anyOf(ACTION_GROUPS)),
      hwid: nullable(text(128)),
      sinceMs: time,
      untilMs: time,
      before: nullable(inputOf({ block: id, entry: id })),
    }),
    async ({ core, signedIn }, { hwid, provider, ...given }) => {
      const page = { ...given, providerCode: provider, countMax: PAGE_COUNT };
      const hashed = hwid === null ? null : hwidHash(hwid);
      const { entries, next } = await pageAudit(core, { ...page, hwidHash: hashed });
      // Addresses are personal data: only people who manage accounts see them.
      const seesAddresses = holds(OPERATE, signedIn.grants, null);
      const rows = entries.map((entry) => ({
        number: entry.number,
        atMs: Date.parse(entry.at),
        who: entry.who,
        name: entry.name,
        action: entry.action,
        object: entry.object,
        change: entry.change ?? {},
        key: entry.key ?? null,
        provider: providerOf(entry),
        from: seesAddresses ? entry.from : null,
      }));
      return { rows, next };
    },
  ),
  'audit.chain': watchCall(inputOf({}), chainOf),
  'audit.verify': watchCall(inputOf({}), async (caller) => {
    caller.grantPatience(CHECK_PATIENCE_SECONDS);
    const result = await caller.appliance.auditCheck.run(caller.nowMs);
    return result === null ? new Refused('check_failed') : chainOf(caller);
  }),
  'settings.list': watchCall(inputOf({}), ({ appliance }) => appliance.settings()),
  'nodes.list': watchCall(inputOf({}), async ({ core }) => {
    const nodes = await core.store.listNodes();
    return (
      nodes?.map(({ id: _, silentMs, ...node }) => ({
        ...node,
        isSilent: silentMs > SILENT_MS,
      })) ?? null
    );
  }),
  'health.read': watchCall(inputOf({}), async ({ appliance, core: { store }, nowMs }) => {
    const [process, storage, server, queue, upkeep] = await Promise.all([
      appliance.state(),
      store.readStorageFacts(),
      store.readServerFacts(),
      store.readQueueFacts(nowMs),
      store.listUpkeep(),
    ]);
    const newer = newerVersion(upkeep, process.version);
    return { process, newer, storage, server, queue, doctor: appliance.doctor.last() };
  }),
  'health.examine': watchCall(inputOf({}), async ({ appliance, grantPatience, nowMs }) => {
    grantPatience(CHECK_PATIENCE_SECONDS);
    const findings = await appliance.doctor.run(nowMs);
    return findings === null ? new Refused('check_failed') : { findings };
  }),
};
