/** Accepted messages in the console: lists, contents, ledgers. */

import type { Core } from '../core.ts';
import { isRecord } from '../json-input.ts';
import {
  COMMAND,
  type DistributionDetail,
  type DistributionType,
  PUSH,
} from '../port/distribution.ts';
import type { Provider } from '../port/provider.ts';
import type { Receipt, ReceiptsAfter } from '../port/receipt.ts';
import { wordOf } from '../status-word.ts';
import { nextTurn } from '../turn.ts';
import { CANCEL_CUTOFF_MS } from './cancel.ts';
import { isFilled } from './filling.ts';
import { plainText } from './plain-text.ts';
import {
  FAILED,
  isTerminal,
  LOAD,
  LOAD_FROM,
  mayBegin,
  SENDING,
  SENT_WITH_ERRORS,
  STATUS_NAMES,
  TRANSITIONS,
} from './status.ts';

/** The choices of a list. */
export const SENT_SHOWS = ['all', 'scheduled', 'running', 'ended', 'failed'] as const;
type SentShow = (typeof SENT_SHOWS)[number];

/** The statuses and the schedule of each choice. */
const FILTERS: Record<SentShow, { fits: (status: number) => boolean; isScheduled?: boolean }> = {
  all: { fits: () => true },
  scheduled: { fits: mayBegin, isScheduled: true },
  running: { fits: (status) => !isTerminal(status), isScheduled: false },
  ended: { fits: isTerminal },
  failed: { fits: (status) => status === FAILED || status === SENT_WITH_ERRORS },
};

/** The most messages that a page reads if few match. */
const SCAN_MAX = 2_000;

export interface SentPage {
  show: SentShow;
  kind: 'push' | 'command' | null;
  /** The ids; null: all. */
  ids: readonly number[] | null;
  beforeId: number | null;
  countMax: number;
}

/** Lists messages of a provider, newest first, with the position of the next page. */
export function listSent(core: Core, { id: providerId }: Provider, page: SentPage) {
  const { fits, isScheduled = null } = FILTERS[page.show];
  const notificationType = page.kind && TYPES[page.kind];
  const statuses = Object.keys(TRANSITIONS).map(Number).filter(fits);
  return core.store.listMessages(
    providerId,
    { ids: page.ids, notificationType, statuses, isScheduled },
    { beforeId: page.beforeId, countMax: page.countMax, scanMax: SCAN_MAX },
  );
}

const TYPES: Record<'push' | 'command', DistributionType> = { push: PUSH, command: COMMAND };

/** The state of a message in one word. */
type SentState =
  | 'scheduled'
  | 'queued'
  | 'loading'
  | 'sending'
  | 'at_gateways'
  | 'sent'
  | 'sent_with_errors'
  | 'failed'
  | 'cancelled'
  | 'blocked';

type Timed = Pick<DistributionDetail, 'status' | 'createdAtMs' | 'dueAtMs' | 'handedOverAtMs'>;

const isScheduled = ({ createdAtMs, dueAtMs }: Timed) => dueAtMs !== createdAtMs;

export function sentStateOf(message: Timed): SentState {
  const { status, handedOverAtMs } = message;
  if (mayBegin(status)) return isScheduled(message) ? 'scheduled' : 'queued';
  if (status === SENDING && handedOverAtMs !== null) return 'at_gateways';
  if (status === LOAD || status === LOAD_FROM) return 'loading';
  return wordOf(STATUS_NAMES[status] ?? 'queued') as SentState;
}

/** Returns the last moment at which a message can be cancelled; null: it cannot. */
export function cancelUntilMs(message: Timed): number | null {
  const may = mayBegin(message.status) && isScheduled(message);
  return may ? message.dueAtMs - CANCEL_CUTOFF_MS : null;
}

/** One language of a notification as text; `locale` is empty for the default one. */
interface SentText {
  locale: string;
  title: string;
  /** The body without tags. */
  body: string;
  link: string;
}

/** The content of a message. */
type SentContent =
  /** `isFilled`: the texts have placeholders, which each device gets filled. */
  | { kind: 'push'; texts: SentText[]; image: string; isFilled: boolean }
  /** `text`: the first characters of a command's content; `isCut`: there are more. */
  | { kind: 'command'; action: string; text: string; isCut: boolean };

const CARRIED_LENGTH_MAX = 4_000;

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** Reads a payload. Returns null if it was deleted with its ledger. */
export function contentOf({ notificationType, payload }: DistributionDetail): SentContent | null {
  const form: unknown = JSON.parse(payload);
  if (!isRecord(form)) return null;
  if (notificationType === COMMAND) {
    const { action_type: action, 'input-data': data, ...rest } = form;
    const carried = typeof data === 'string' ? decoded(data) : JSON.stringify(rest, null, 2);
    const isEmpty = Object.keys(rest).length === 0 && data === undefined;
    const begin = isEmpty ? '' : carried.slice(0, CARRIED_LENGTH_MAX);
    const isCut = carried.length > CARRIED_LENGTH_MAX;
    return { kind: 'command', action: text(action), text: begin, isCut };
  }
  const locales = isRecord(form['locales']) ? Object.entries(form['locales']) : [];
  const texts = locales.map(([locale, one]) => sentText(locale, isRecord(one) ? one : {}));
  const base = sentText('', { ...form, 'link-for-open': form['link_for_open'] });
  return {
    kind: 'push',
    texts: [base, ...texts],
    image: text(form['background_image']),
    isFilled: isFilled({ notificationType, payload: form }),
  };
}

function sentText(locale: string, form: Readonly<Record<string, unknown>>): SentText {
  const { title, body, 'link-for-open': link } = form;
  return { locale, title: text(title), body: plainText(text(body)), link: text(link) };
}

/** Decodes more than is shown: four characters of base64 are three bytes, a character four. */
const decoded = (base64: string) =>
  Buffer.from(base64.slice(0, 6 * CARRIED_LENGTH_MAX), 'base64').toString('utf8');

/** The choices of a ledger's list; `waiting` devices have not fetched the message. */
export const LEDGER_SHOWS = ['all', 'waiting', 'received', 'opened', 'failed', 'expired'] as const;
export type LedgerShow = (typeof LEDGER_SHOWS)[number];

const LEDGER_FITS: Record<LedgerShow, (row: Receipt) => boolean> = {
  all: () => true,
  waiting: ({ state, receivedAtMs }) =>
    receivedAtMs === null && (state === 'queued' || state === 'sent'),
  received: ({ receivedAtMs }) => receivedAtMs !== null,
  opened: ({ openedAtMs, executedAtMs }) => openedAtMs !== null || executedAtMs !== null,
  failed: ({ state, refusedAtMs, push }) =>
    state === 'failed' || refusedAtMs !== null || push?.state === 'failed',
  expired: ({ state }) => state === 'expired',
};

/** Receipts of a read, about 3 ms on SQLite, and the most reads of a page: few may match. */
const READ_COUNT = 500;
const READS_MAX = 8;

/**
 * Lists the receipts of a message that match a filter, with the position of the next page; null:
 * none. Refuses as `listReceipts` of the port.
 */
export async function pageLedger(
  core: Core,
  of: { providerId: number; distributionId: number },
  { show, after, countMax }: { show: LedgerShow; after: ReceiptsAfter; countMax: number },
): Promise<{ rows: Receipt[]; nextId: number | null } | 'receipt_not_found'> {
  const rows: Receipt[] = [];
  let last = after;
  for (let reads = 0; reads < READS_MAX; reads++) {
    const readMax = show === 'all' ? countMax + 1 : READ_COUNT;
    const read = await core.store.listReceipts(of, last, readMax);
    if (read === 'receipt_not_found') return read;
    for (const row of read) {
      if (LEDGER_FITS[show](row)) rows.push(row);
      if (rows.length > countMax) {
        return { rows: rows.slice(0, countMax), nextId: rows[countMax - 1]?.id ?? null };
      }
    }
    const end = read.at(-1);
    if (read.length < readMax || end === undefined) return { rows, nextId: null };
    if (reads === READS_MAX - 1) return { rows, nextId: end.id };
    last = { deviceId: end.deviceId };
    await nextTurn();
  }
  return { rows, nextId: null };
}
