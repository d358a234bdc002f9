/** Stored answers, so that a call may be repeated. */

import type { IdempotencyStore, KeyedCall, KeyRefusal, Made } from '../../core/port/idempotency.ts';
import type { Backend, Statements, Step } from '../backend.ts';
import { columns, insertInto, ONE, sql, values } from '../statement-text.ts';
import { shared } from './shared.ts';

/** Answers that one step deletes. */
const FORGET_STEP = 500;

interface Kept {
  call: string;
  paramsHash: string;
  answer: string;
}

function statements({ prepare, bytes, hex }: Statements) {
  return {
    find: prepare(sql`
        SELECT ${columns('idempotent_call', 'call')},
          ${values<{ paramsHash: Kept['paramsHash'] }>({ paramsHash: sql`${hex('params_hash')}` })},
          ${columns('idempotent_call', 'answer')}
        FROM idempotent_call
        WHERE provider_id = :providerId AND idempotency_key = :key AND answered_at_ms > :afterMs`),
    count: prepare(sql`
        SELECT ${columns('provider', 'idempotentCount AS count')}
        FROM provider WHERE id = :providerId`),
    /** Replaces an answer that is too old and not deleted yet. */
    keep: prepare(sql`
        ${insertInto(
          'idempotent_call',
          'providerId, call, answer, idempotencyKey = :key, answeredAtMs = :atMs',
          { paramsHash: bytes('paramsHash') },
        )}
        ON CONFLICT (provider_id, idempotency_key) DO UPDATE SET call = excluded.call,
          params_hash = excluded.params_hash, answer = excluded.answer,
          answered_at_ms = excluded.answered_at_ms`),
  };
}

type On = ReturnType<typeof statements>;

function* findMade(
  on: On,
  providerId: number,
  { key, call, paramsHash, afterMs }: KeyedCall,
): Step<Made | 'idempotency_key_reused' | null> {
  const kept = yield* on.find.get({ providerId, key, afterMs });
  if (kept === null) return null;
  const isSame = kept.call === call && kept.paramsHash === paramsHash;
  if (!isSame) return 'idempotency_key_reused';
  return { ...(JSON.parse(kept.answer) as Made), isRepeat: true };
}

/** Makes the step that runs a call only once; the write locks the provider first. */
export const onceSteps = shared((backend: Statements) => {
  const on = statements(backend);

  /**
   * Runs `make` and saves its result in the same commit, unless a call with the key did so before.
   * Refusals of `make` are not saved.
   */
  return function* once<Refusal extends string>(
    providerId: number,
    keyed: KeyedCall,
    atMs: number,
    make: () => Step<Made | Refusal>,
  ): Step<Made | Refusal | KeyRefusal> {
    const known = yield* findMade(on, providerId, keyed);
    if (known !== null) return known;
    const count = (yield* on.count.get({ providerId }))?.count ?? 0;
    if (count >= keyed.countMax) return 'idempotency_keys_full';
    const made = yield* make();
    if (typeof made === 'string') return made;
    const { key, call, paramsHash } = keyed;
    yield* on.keep.run({ providerId, key, call, paramsHash, answer: JSON.stringify(made), atMs });
    return made;
  };
});

export function idempotencyNoun(backend: Backend): IdempotencyStore {
  const on = statements(backend);
  const old = sql`FROM idempotent_call WHERE answered_at_ms <= :untilMs`;
  const some = sql`
    SELECT provider_id, idempotency_key ${old} ORDER BY answered_at_ms LIMIT ${FORGET_STEP}`;
  const isOld = backend.prepare(sql`SELECT ${ONE} ${old} LIMIT 1`);
  /** Providers count their answers. */
  const lockProviders = backend.lockOnly(sql`
      SELECT id FROM provider WHERE id IN (SELECT x.provider_id FROM (${some}) x)
      ORDER BY id ${backend.locked}`);
  const forget = backend.prepare(sql`
      DELETE FROM idempotent_call WHERE answered_at_ms <= :untilMs
        AND (provider_id, idempotency_key) IN (SELECT * FROM (${some}) x)`);

  return {
    findMade: (providerId, call) => backend.read(() => findMade(on, providerId, call)),

    forgetMade: async (untilMs) => {
      if ((await backend.read(() => isOld.get({ untilMs }))) === null) return false;
      return backend.write(function* () {
        yield* lockProviders.run({ untilMs });
        return (yield* forget.run({ untilMs })) > 0;
      });
    },
  };
}
