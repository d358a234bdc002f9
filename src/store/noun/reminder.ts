/** Reminders of providers. */

import { updateProvider } from '../../core/audit/deeds.ts';
import * as deeds from '../../core/audit/reminder-deeds.ts';
import type { Act } from '../../core/port/audit.ts';
import type { Provider } from '../../core/port/provider.ts';
import type {
  OwnReminder,
  Reminder,
  ReminderStore,
  ReminderTexts,
} from '../../core/port/reminder.ts';
import { textsJson } from '../../core/reminder-fields.ts';
import { addressesIn, hostOf } from '../../core/reminder-links.ts';
import { formerOf } from '../../core/unconfirmed.ts';
import type { Backend, Notes, Step } from '../backend.ts';
import { assignments, columns, insertInto, type RowsOf, sql } from '../statement-text.ts';
import { PROVIDER_COLUMNS } from './provider.ts';
import { ridesChanged } from './terms.ts';
import { noteWaiting } from './unconfirmed.ts';

const SET = ['amount', 'texts', 'formerTexts', 'textsAtMs', 'pushText', 'enabled'] as const;
export const REMINDER_COLUMNS = columns('reminder', ['id', 'kind', ...SET, 'createdAtMs']);
type Row = RowsOf<[typeof REMINDER_COLUMNS]>;

const textsOf = (json: string) => JSON.parse(json) as ReminderTexts;

const reminderOf = ({ texts, formerTexts, ...row }: Row): Reminder => ({
  ...row,
  texts: textsOf(texts),
  formerTexts: formerTexts === null ? null : textsOf(formerTexts),
});

/** Returns the fields of a row that can be set. */
export const ownReminder = ({ kind, amount, texts, pushText, enabled }: Row): OwnReminder => ({
  kind,
  amount,
  texts: textsOf(texts),
  pushText,
  enabled,
});

const rowOf = ({ texts, formerTexts, ...own }: Omit<Reminder, 'id'>) => ({
  ...own,
  texts: textsJson(texts),
  formerTexts: formerTexts && textsJson(formerTexts),
});

/** Returns the hosts of the addresses in texts. */
const hostsIn = (texts: ReminderTexts) =>
  Object.values(texts)
    .flatMap(addressesIn)
    .flatMap((address) => hostOf(address) ?? []);

/** Notes the event of texts that a key wrote. */
function tellOfTexts(
  notes: Notes,
  { code, id: providerId }: Pick<Provider, 'code' | 'id'>,
  before: Reminder | null,
  { id, texts, textsAtMs }: Reminder,
  { atMs }: Act,
): void {
  if (textsAtMs !== atMs) return;
  const [oldHosts, newHosts] = [hostsIn(before?.texts ?? {}), hostsIn(texts)];
  const about = { providerCode: code, reminderId: id, changed: 'texts' } as const;
  noteWaiting(notes, providerId, { ...about, oldHosts, newHosts }, atMs);
}

type Owner = RowsOf<[typeof PROVIDER_COLUMNS]>;

/** Keeps figures for an enabled reminder; the step returns whether they were off. */
function figuresBeginning(backend: Backend) {
  const raise = ridesChanged(backend);
  const keep = backend.prepare(sql`
      UPDATE provider SET subscription_figures = 1, figures_since_ms = CAST(:nowMs AS bigint)
      WHERE id = :providerId`);
  return function* (notes: Notes, owner: Owner, { enabled }: Reminder, act: Act): Step<boolean> {
    if (enabled === 0 || owner.subscriptionFigures === 1) return false;
    const { id: providerId } = owner;
    yield* keep.run({ providerId, nowMs: act.atMs });
    yield* raise.run({ providerId });
    for (const deed of updateProvider(owner, { ...owner, subscriptionFigures: 1 })) {
      notes.audit(act, deed, providerId);
    }
    return true;
  };
}

export function reminderNoun(backend: Backend): ReminderStore {
  const { prepare } = backend;
  const keepFigures = figuresBeginning(backend);
  const ofProvider = sql`SELECT ${REMINDER_COLUMNS} FROM reminder WHERE provider_id = :providerId`;
  const on = {
    find: prepare(sql`${ofProvider} AND id = :id`),
    list: prepare(sql`${ofProvider} ORDER BY id`),
    add: prepare(sql`
        ${insertInto('reminder', ['providerId', 'kind', ...SET, 'createdAtMs'])}
        ${backend.returningId}`),
    change: prepare(sql`UPDATE reminder SET ${assignments('reminder', SET)} WHERE id = :id`),
    remove: prepare(sql`DELETE FROM reminder WHERE id = :id`),
    owner: prepare(sql`
        SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id = :providerId ${backend.locked}`),
    confirm: prepare(sql`
        UPDATE provider SET confirmed_at_ms = :untilMs WHERE id = :providerId`),
  };

  function* lockOwner(providerId: number) {
    const owner = yield* on.owner.get({ providerId });
    if (owner === null) throw new Error(`provider ${providerId} was removed meanwhile`);
    return owner;
  }
  const isTaken = (all: readonly Row[], { kind, amount }: Pick<Row, 'kind' | 'amount'>) =>
    all.some((one) => one.kind === kind && one.amount === amount);

  return {
    addReminder: ({ countMax, providerId, ...draft }, act) =>
      backend.write(function* (notes) {
        const owner = yield* lockOwner(providerId);
        const all = yield* on.list.all({ providerId });
        if (isTaken(all, draft)) return 'reminder_exists';
        if (all.length >= countMax) return 'reminder_limit_reached';
        const { former, atMs } = formerOf<ReminderTexts>(null, owner.confirmedAtMs, act);
        const added = { ...draft, formerTexts: former, textsAtMs: atMs };
        const id = yield* on.add.insert({ providerId, ...rowOf(added) });
        const reminder = { id, ...added };
        notes.audit(act, deeds.addReminder(reminder), providerId);
        tellOfTexts(notes, owner, null, reminder, act);
        return { reminder, hasBegunFigures: yield* keepFigures(notes, owner, reminder, act) };
      }),
    setReminder: (providerId, id, change, act) =>
      backend.write(function* (notes) {
        const owner = yield* lockOwner(providerId);
        const all = yield* on.list.all({ providerId });
        const row = all.find((one) => one.id === id);
        if (row === undefined) return 'reminder_not_found';
        const before = reminderOf(row);
        const wanted = { ...before, ...change };
        const others = all.filter((one) => one.id !== id);
        if (isTaken(others, wanted)) return 'reminder_exists';
        const deed = deeds.setReminder(before, wanted);
        if (deed === null) return { reminder: before, hasBegunFigures: false };
        const { texts: now, formerTexts, textsAtMs } = before;
        const hasText = textsJson(now) !== textsJson(wanted.texts);
        const was = { now, former: formerTexts, atMs: textsAtMs };
        const kept = hasText ? formerOf(was, owner.confirmedAtMs, act) : was;
        const reminder = { ...wanted, formerTexts: kept.former, textsAtMs: kept.atMs };
        yield* on.change.run({ ...rowOf(reminder), id });
        notes.audit(act, deed, providerId);
        if (hasText) tellOfTexts(notes, owner, before, reminder, act);
        return { reminder, hasBegunFigures: yield* keepFigures(notes, owner, reminder, act) };
      }),
    removeReminder: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const known = yield* on.find.get({ providerId, id });
        if (known === null) return false;
        yield* on.remove.run({ id });
        notes.audit(act, deeds.removeReminder(reminderOf(known)), providerId);
        return true;
      }),
    confirmChanges: (providerId, untilMs, act) =>
      backend.write(function* (notes) {
        const owner = yield* lockOwner(providerId);
        if (owner.confirmedAtMs >= untilMs) return false;
        yield* on.confirm.run({ providerId, untilMs });
        notes.audit(act, deeds.confirmChanges(untilMs), providerId);
        return true;
      }),
    findReminder: (providerId, id) =>
      backend.read(function* () {
        const row = yield* on.find.get({ providerId, id });
        return row && reminderOf(row);
      }),
    listReminders: (providerId) =>
      backend.read(function* () {
        return (yield* on.list.all({ providerId })).map(reminderOf);
      }),
  };
}
