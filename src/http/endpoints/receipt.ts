/** Receipts: the ledgers of a provider's own notifications and commands. */

import { type Static, Type } from '@sinclair/typebox';
import { Refused } from '../../core/outcome.ts';
import type { Receipt, ReceiptsAfter } from '../../core/port/receipt.ts';
import { LIST_BYTES_MAX, PAGE_COUNT, type Row } from '../answer/list-text.ts';
import { wireTime } from '../answer/wire-time.ts';
import { optional, providerEndpoint, required } from '../endpoint.ts';
import { choice, forms, HWID_EXAMPLE, orNull, RecordId, WireTime } from './params.ts';

const STATES = ['queued', 'sent', 'received', 'failed', 'expired'] as const;
const PUSH_STATES = ['queued', 'accepted', 'failed'] as const;

/** The most receipts of an answer: each is longer than records of other lists. */
const RECEIPT_COUNT_MAX = 1_000;

const Time = (about: string) => ({ ...orNull(WireTime), description: about });
const Why = (about: string) => ({ ...orNull(Type.String()), description: about });

const ReceiptRow = Type.Object(
  {
    id: RecordId,
    hwid: Type.String({ examples: [HWID_EXAMPLE] }),
    device_name: Type.String({
      examples: ['Pixel 9'],
      description: 'The model that the device named to this provider; empty: it named none.',
    }),
    state: choice(
      STATES,
      '`queued`, `sent` (it is in the inbox), `received` (the app acknowledged it), `failed`, `expired`.',
    ),
    reachable: Type.Boolean({
      examples: [true],
      description:
        'True: the device got it, or an app has registered it with this provider. False: its app never asked for messages.',
    }),
    queued_at: { ...WireTime, description: 'When it became a recipient.' },
    sent_at: Time('When the message was put into the inbox.'),
    received_at: Time('When the app acknowledged it.'),
    opened_at: Time('When the user opened it.'),
    executed_at: Time('When the app carried out the command.'),
    refused_at: Time('When the app said that it could not.'),
    failed_at: Time('When sending failed.'),
    expired_at: Time('When it expired.'),
    carried_at: Time('When an answer to the fetch of its subscription first carried it.'),
    carried: Why('In which app, and by which headers: `happ: announce, sub-info`.'),
    detail: Why('Why it failed, here or in the app.'),
    push: {
      ...orNull(choice(PUSH_STATES)),
      description:
        'The push through a gateway: `queued`, `accepted`, `failed`; null: there is none.',
    },
    push_problem: Why('Why the last attempt of the push failed.'),
  },
  { title: 'Receipt' },
);

/** A row of an answer with the place of its receipt, by which the next page is read. */
const placeOf = new WeakMap<Row, number>();

const receiptsEndpoint = providerEndpoint({
  method: 'GET',
  path: '/remote/receipts',
  repeat: 'reads',
  needs: 'read',
  summary: 'List what became of a notification or command at each device',
  description:
    'Lists the ledger of one notification or command of the provider, the newest device first: an extension of the public contract. A receipt has nothing that a device told another provider. Ledgers are deleted after the time that the operator set.',
  params: {
    id: required(forms.id, {
      misfit: 'unknown_error',
      about: 'The notification or command.',
      example: 1,
    }),
    before_id: optional(forms.id, {
      misfit: 'unknown_error',
      about: 'The `id` of the last receipt of the page before: continues a list.',
    }),
  },
  fields: { ok: { data: Type.Array(ReceiptRow, { maxItems: RECEIPT_COUNT_MAX }) } },
  says: ['ok', 'unknown_error'],
  async handle({ core, provider, params, settings: { outputOffsetMinutes } }) {
    const of = { providerId: provider.id, distributionId: params.id };
    const first: ReceiptsAfter = params.before_id === null ? null : { id: params.before_id };
    const begun = await core.store.listReceipts(of, first, PAGE_COUNT);
    if (begun === 'receipt_not_found') return new Refused('malformed', { detail: NO_PLACE });
    const rowsOf = (receipts: readonly Receipt[]) =>
      receipts.map((receipt) => {
        const row = rowOf(receipt, outputOffsetMinutes);
        placeOf.set(row, receipt.deviceId);
        return row;
      });
    const read = async (last: Row | null, countMax: number) => {
      if (last === null) return rowsOf(begun);
      const deviceId = placeOf.get(last) ?? 0;
      const next = await core.store.listReceipts(of, { deviceId }, countMax);
      return next === 'receipt_not_found' ? [] : rowsOf(next);
    };
    const bounds = { countMax: RECEIPT_COUNT_MAX, pageCount: PAGE_COUNT, bytesMax: LIST_BYTES_MAX };
    return { says: 'ok', list: { ...bounds, isOne: false, read } };
  },
});

const NO_PLACE =
  'before_id names no receipt of this message: its device may have been deleted; start from the first page';

function rowOf(receipt: Receipt, offsetMinutes: number): Static<typeof ReceiptRow> {
  const time = (atMs: number | null) => (atMs === null ? null : wireTime(atMs, offsetMinutes));
  const { receivedAtMs, push } = receipt;
  return {
    id: receipt.id,
    hwid: receipt.hwid,
    device_name: receipt.deviceName,
    state: receivedAtMs === null ? receipt.state : 'received',
    reachable: receipt.isReachable,
    queued_at: wireTime(receipt.queuedAtMs, offsetMinutes),
    sent_at: time(receipt.sentAtMs),
    received_at: time(receivedAtMs),
    opened_at: time(receipt.openedAtMs),
    executed_at: time(receipt.executedAtMs),
    refused_at: time(receipt.refusedAtMs),
    failed_at: time(receipt.failedAtMs),
    expired_at: time(receipt.expiredAtMs),
    carried_at: time(receipt.carriedAtMs),
    carried: receipt.carried,
    detail: receipt.detail,
    push: push?.state ?? null,
    push_problem: push?.problem ?? null,
  };
}

export const receiptEndpoints = [receiptsEndpoint];
