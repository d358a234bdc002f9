/** Distributions as rows: one row for each column, with what writes and shows it. */

import { fieldsOf } from '../../core/field.ts';
import type { NewDistribution } from '../../core/port/distribution.ts';
import type { Row } from '../row.ts';

interface Column {
  /** The type in PostgreSQL, of a column that a send gives; absent: delivery writes it. */
  send?: 'bigint' | 'integer' | 'text';
  /** Shown in each list, or with the details alone; absent: in neither as it is. */
  shown?: 'list' | 'details';
}

/** A column without a row does not compile, nor a field of a send without its type. */
const COLUMNS = {
  id: { shown: 'list' },
  providerId: { send: 'bigint' },
  notificationType: { send: 'integer', shown: 'list' },
  status: { shown: 'list' },
  targetOs: { send: 'text', shown: 'list' },
  targetHwid: { send: 'text', shown: 'list' },
  createdAtMs: { send: 'bigint', shown: 'list' },
  payload: { send: 'text', shown: 'details' },
  dueAtMs: { send: 'bigint', shown: 'details' },
  expiresAtMs: { send: 'bigint', shown: 'details' },
  reachesUnbound: { send: 'integer' },
  unboundCount: { send: 'bigint' },
  beganAtMs: { shown: 'details' },
  finishedAtMs: { shown: 'details' },
  recipientCount: { shown: 'details' },
  sentCount: { shown: 'details' },
  failedCount: { shown: 'details' },
  handedOverAtMs: { shown: 'details' },
  replacesId: { send: 'bigint', shown: 'details' },
  segment: { send: 'text', shown: 'details' },
  pushWaitingCount: {},
  reminderId: {},
  reminderDay: {},
  leaseOwner: {},
  leaseUntilMs: {},
  cursorSource: {},
  cursorId: {},
  cursorOs: {},
  rideEndedAtMs: {},
  expiredAtMs: {},
  prunedAtMs: {},
} as const satisfies Record<keyof Row<'distribution'>, Column> &
  Record<Exclude<keyof NewDistribution, 'actionType'>, Pick<Required<Column>, 'send'>>;

type FieldsWith<Part> = {
  [F in keyof typeof COLUMNS]: (typeof COLUMNS)[F] extends Part ? F : never;
}[keyof typeof COLUMNS];
type Sent = FieldsWith<{ readonly send: string }>;

const shownIn = <Where extends 'list' | 'details'>(where: Where) =>
  fieldsOf(COLUMNS).filter(
    (field): field is FieldsWith<{ readonly shown: Where }> =>
      (COLUMNS[field] as Column).shown === where,
  );

/** The columns of a send with their types in PostgreSQL. */
export const SENT_TYPES = Object.fromEntries(
  Object.entries<Column>(COLUMNS).flatMap(([field, { send }]) => (send ? [[field, send]] : [])),
) as { [F in Sent]: (typeof COLUMNS)[F]['send'] };
export const SENT_FIELDS = fieldsOf(SENT_TYPES);
export const LISTED_FIELDS = shownIn('list');
export const DETAIL_FIELDS = shownIn('details');

/** A send as a row. */
export type SendRow = Pick<Row<'distribution'>, Sent>;
