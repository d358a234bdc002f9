/** Calls of the console about accepted messages and commands. */

import { Type } from '@sinclair/typebox';
import { LOOK, SEND } from '../core/account/roles.ts';
import { cancelDistribution } from '../core/message/cancel.ts';
import {
  cancelUntilMs,
  contentOf,
  LEDGER_SHOWS,
  listSent,
  pageLedger,
  SENT_SHOWS,
  sentStateOf,
} from '../core/message/sent.ts';
import { fromStore, isRefused, Refused } from '../core/outcome.ts';
import { type DistributionDetail, PUSH } from '../core/port/distribution.ts';
import { countRecipients } from '../core/target-count.ts';
import { type DoerFor, lookCall, type Staff, sharedCall } from './call.ts';
import { anyOf, atProvider, id, nullable } from './inputs.ts';

/** The most messages or receipts of a page, and of messages that are requested by id. */
const PAGE_COUNT = 30;
const LEDGER_COUNT = 50;
const IDS_MAX = 100;
/** The most HWIDs in a row: a filter may find hundreds. */
const ROW_HWIDS = 5;
/** The most characters of a title in a list. */
const TITLE_LENGTH_MAX = 120;
/**
 * The most receipts that one call counts, and recipients whose ways it reads: about 2 ms on SQLite.
 */
const COUNT_ROWS = 8_000;
const REACH_ROWS = 2_000;

/** Returns a message for lists and panels. */
export function rowOf(message: DistributionDetail) {
  const { targetHwid, targetOs } = message;
  const hwids = targetHwid === '' ? [] : targetHwid.split(',');
  const content = contentOf(message);
  const first = content?.kind === 'push' ? content.texts[0] : undefined;
  return {
    id: message.id,
    state: sentStateOf(message),
    cancelUntilMs: cancelUntilMs(message),
    kind: message.notificationType === PUSH ? ('push' as const) : ('command' as const),
    /** The title; null: the message was deleted with its ledger. */
    title: first ? (first.title || first.body).slice(0, TITLE_LENGTH_MAX) : null,
    action: content?.kind === 'command' ? content.action : null,
    os: targetOs?.split(',') ?? null,
    isByFilter: message.segment !== null,
    hwids: hwids.slice(0, ROW_HWIDS),
    hwidCount: hwids.length,
    createdAtMs: message.createdAtMs,
    expiresAtMs: message.expiresAtMs,
    dueAtMs: message.dueAtMs === message.createdAtMs ? null : message.dueAtMs,
    beganAtMs: message.beganAtMs,
    finishedAtMs: message.finishedAtMs,
    recipients: message.recipientCount,
    sent: message.sentCount,
    failed: message.failedCount,
  };
}

/** Finds a message of the provider. */
async function messageOf({ core, provider }: Staff, wanted: number) {
  const page = { show: 'all', kind: null, beforeId: null, countMax: 1 } as const;
  const { messages } = await listSent(core, provider, { ...page, ids: [wanted] });
  return messages[0] ?? new Refused('notification_not_found');
}

export const messageCalls = {
  'messages.list': lookCall(
    LOOK,
    atProvider({
      show: anyOf(SENT_SHOWS),
      kind: nullable(anyOf(['push', 'command'])),
      ids: nullable(Type.Array(id, { maxItems: IDS_MAX })),
      beforeId: nullable(id),
    }),
    async ({ core, nowMs, provider }, page) => {
      const found = await listSent(core, provider, { ...page, countMax: PAGE_COUNT });
      return { rows: found.messages.map(rowOf), nextId: found.nextId, nowMs };
    },
  ),
  'messages.show': lookCall(LOOK, atProvider({ id }), async (staff, given) => {
    const message = await messageOf(staff, given.id);
    if (isRefused(message)) return message;
    return {
      ...rowOf(message),
      content: contentOf(message),
      isPruned: message.isPruned,
      replacesId: message.replacesId,
      nowMs: staff.nowMs,
      /** The devices by the ways to them; null before delivery, and without a ledger. */
      reach: await countRecipients(staff.core, staff.provider, message, REACH_ROWS),
    };
  }),
  'messages.cancel': sharedCall(
    SEND,
    ['distribution.cancel'],
    { commands: ['distribution cancel'] },
    atProvider({ id }),
    ({ core, nowMs, provider }: DoerFor, given) =>
      cancelDistribution(core, provider, given.id, nowMs),
  ),
  'messages.count': lookCall(
    LOOK,
    atProvider({ id, afterId: nullable(id) }),
    async ({ core, provider }, given) => {
      const of = { providerId: provider.id, distributionId: given.id };
      const after = given.afterId === null ? null : { id: given.afterId };
      return fromStore(await core.store.countReceipts(of, after, COUNT_ROWS));
    },
  ),
  'messages.ledger': lookCall(
    LOOK,
    atProvider({ id, show: anyOf(LEDGER_SHOWS), afterId: nullable(id) }),
    async ({ core, provider }, { show, ...given }) => {
      const of = { providerId: provider.id, distributionId: given.id };
      const after = given.afterId === null ? null : { id: given.afterId };
      const page = fromStore(await pageLedger(core, of, { show, after, countMax: LEDGER_COUNT }));
      if (isRefused(page)) return page;
      const rows = page.rows.map(({ deviceId: _, queuedAtMs: __, push, ...row }) => ({
        ...row,
        push: push?.state ?? null,
        pushProblem: push?.problem ?? null,
      }));
      return { rows, nextId: page.nextId };
    },
  ),
};
