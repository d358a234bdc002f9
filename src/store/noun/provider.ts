/** Providers. */

import * as deeds from '../../core/audit/deeds.ts';
import * as happenings from '../../core/event/happenings.ts';
import { fieldsOf, usualOf } from '../../core/field.ts';
import type { ProviderStore, ProviderTerms } from '../../core/port/provider.ts';
import { PROVIDER_FIELDS, RIDE_TERMS } from '../../core/terms.ts';
import { movedButtons } from '../../core/unconfirmed.ts';
import type { Backend } from '../backend.ts';
import { assignments, columns, insertInto, sql } from '../statement-text.ts';
import { oneTimeSteps } from './session.ts';
import { ridesChanged } from './terms.ts';
import { buttonSteps } from './unconfirmed.ts';

const FIELDS = fieldsOf(PROVIDER_FIELDS);

export const PROVIDER_COLUMNS = columns('provider', [
  ...(['id', 'code', 'installCount', 'createdAtMs', 'confirmedAtMs'] as const),
  ...(['formerButtons', 'buttonsAtMs'] as const),
  ...(['keyHash', 'previousKeyHash', 'previousKeyUntilMs'] as const),
  ...FIELDS,
]);

/** Fields that change the messages that ride. */
const RIDE_FIELDS = [
  ...fieldsOf(RIDE_TERMS),
  ...(['activeUntilMs', 'suspendedAtMs', 'my', 'subscriptionFigures'] as const),
];

type ProviderNoun = Omit<ProviderStore, 'closeProvider' | 'removeProvider'>;

function statements(backend: Backend) {
  const { prepare } = backend;
  const ofCode = sql`code = :code`;
  return {
    find: prepare(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE ${ofCode}`),
    lock: prepare(sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE ${ofCode} ${backend.locked}`),
    list: prepare(sql`SELECT ${PROVIDER_COLUMNS} FROM provider ORDER BY id`),
    page: prepare(
      sql`SELECT ${PROVIDER_COLUMNS} FROM provider WHERE id > :afterId ORDER BY id LIMIT :countMax`,
    ),
    add: prepare(sql`
        ${insertInto('provider', [
          'code',
          'keyHash',
          'createdAtMs',
          ...FIELDS,
        ])} ON CONFLICT DO NOTHING`),
    change: prepare(sql`
        UPDATE provider SET ${assignments('provider', FIELDS)}
        WHERE ${ofCode}`),
    figuresTurned: prepare(sql`
        UPDATE provider SET figures_since_ms =
          CASE WHEN subscription_figures = 1 THEN CAST(:nowMs AS bigint) END
        WHERE ${ofCode}`),
    ridesChanged: ridesChanged(backend),
    rotate: prepare(sql`
        UPDATE provider SET ${assignments('provider', 'previousKeyHash = key_hash, previousKeyUntilMs, keyHash')}
        WHERE ${ofCode}`),
    endSessions: prepare(sql`
        DELETE FROM session WHERE provider_id = :providerId AND account_id IS NULL`),
  };
}

export function providerNoun(backend: Backend): ProviderNoun {
  const on = statements(backend);
  const oneTime = oneTimeSteps(backend);
  const buttons = buttonSteps(backend);

  return {
    findProvider: (code) => backend.read(() => on.find.get({ code })),
    listProviders: async () => backend.read(() => on.list.all()),
    pageProviders: async (afterId, countMax) =>
      backend.read(() => on.page.all({ afterId, countMax })),
    addProvider: (draft, act) =>
      backend.write(function* (notes) {
        const row = { ...usualOf<ProviderTerms>(PROVIDER_FIELDS), ...draft };
        if ((yield* on.add.run(row)) === 0) return 'provider_code_exists';
        // Of its buttons, its page and discovery; most providers have none.
        const { code, discovery, my, plan, supportUrl, webPageUrl } = row;
        if (row.subscriptionFigures === 1) {
          yield* on.figuresTurned.run({ code, nowMs: act.atMs });
        }
        const rides = my === 1 || discovery === 1 || (supportUrl ?? webPageUrl) !== null;
        const added = rides ? yield* on.find.get({ code }) : null;
        if (added !== null) yield* on.ridesChanged.run({ providerId: added.id });
        notes.audit(act, deeds.addProvider(draft));
        notes.event(null, act.atMs, () => happenings.providerAdded(code, plan));
        return 'ok';
      }),
    updateProvider: (code, wanted, act) =>
      backend.write(function* (notes) {
        const known = yield* on.lock.get({ code });
        if (known === null) return 'provider_not_found';
        const after = { ...known, ...wanted };
        yield* on.change.run({ ...after });
        if (after.subscriptionFigures !== known.subscriptionFigures) {
          yield* on.figuresTurned.run({ code, nowMs: act.atMs });
        }
        if (RIDE_FIELDS.some((name) => known[name] !== after[name])) {
          yield* on.ridesChanged.run({ providerId: known.id });
        }
        if (movedButtons(known, after).length > 0) {
          yield* buttons.changed(notes, known.id, null, known, after, act);
        }
        for (const deed of deeds.updateProvider(known, after)) {
          notes.audit(act, deed);
          notes.event(null, act.atMs, () => happenings.providerChanged(after, deed));
        }
        return 'ok';
      }),
    rotateKey: (code, keyHash, previousKeyUntilMs, act) =>
      backend.write(function* (notes) {
        const known = yield* on.lock.get({ code });
        if (known === null) return 'provider_not_found';
        const after = { code, keyHash, previousKeyUntilMs };
        yield* on.rotate.run(after);
        const sessionCount = yield* on.endSessions.run({ providerId: known.id });
        const invitationCount = yield* oneTime.endInvitations(known.id);
        const { atMs } = act;
        notes.audit(act, deeds.rotateKey(known, after));
        notes.event(known.id, atMs, () => happenings.keyRotated(previousKeyUntilMs));
        notes.event(null, atMs, () => happenings.providerKeyRotated(code, previousKeyUntilMs));
        return { sessionCount, invitationCount };
      }),
  };
}
