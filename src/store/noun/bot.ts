/** Bots that fetch for their customers, and how often each fetched a key today. */

import * as deeds from '../../core/audit/bot-deeds.ts';
import type { BotStore } from '../../core/port/bot.ts';
import type { Backend } from '../backend.ts';
import { columns, insertInto, sql } from '../statement-text.ts';

/** Rows that a step deletes. */
const FORGET_COUNT = 1_000;

export function botNoun(backend: Backend): BotStore {
  const { prepare, bytes, join } = backend;
  const bot = sql`
    SELECT ${columns('bot', 'id, host, name, createdAtMs')} FROM bot
    WHERE provider_id = :providerId`;
  const isOver = sql`day < :beforeDay`;
  const on = {
    list: prepare(sql`${bot} ORDER BY id`),
    read: prepare(sql`${bot} AND id = :id`),
    atHost: prepare(sql`
        SELECT ${columns({ b: 'bot', p: 'provider' }, 'b.id, b.secretHash, p.code AS providerCode')}
        FROM bot b ${join} provider p ON p.id = b.provider_id WHERE b.host = :host`),
    add: prepare(sql`
        ${insertInto('bot', 'providerId, host, name, secretHash, createdAtMs')}
        ${backend.returningId}`),
    remove: prepare(sql`
        DELETE FROM bot WHERE id = :id`),
    /** Counts from one again on another day. */
    count: prepare(sql`
        INSERT INTO bot_fetch AS f (bot_id, key_hash, day, fetch_count)
        SELECT b.id, ${bytes('keyHash')}, :day, 1 FROM bot b WHERE b.id = :botId
        ON CONFLICT (bot_id, key_hash) DO UPDATE SET day = excluded.day,
          fetch_count = CASE WHEN f.day = excluded.day THEN f.fetch_count + 1 ELSE 1 END
          WHERE f.day <> excluded.day OR f.fetch_count < :countMax`),
    oldest: prepare(sql`
        SELECT ${columns('bot_fetch', 'botId')} FROM bot_fetch WHERE ${isOver} LIMIT 1`),
    /** Leaves rows to another node that is deleting them. */
    forget: prepare(sql`
        WITH gone AS (
          SELECT bot_id, key_hash FROM bot_fetch WHERE ${isOver}
          ORDER BY day, bot_id, key_hash
          LIMIT ${FORGET_COUNT} ${backend.deletableUnlessBusy})
        DELETE FROM bot_fetch WHERE (bot_id, key_hash) IN (SELECT bot_id, key_hash FROM gone)`),
  };
  return {
    addBot: ({ countMax, ...draft }, act) =>
      backend.write(function* (notes) {
        const { host, providerId } = draft;
        yield* backend.lockProvider(providerId);
        if ((yield* on.list.all({ providerId })).length >= countMax) return 'bot_limit_reached';
        const id = yield* on.add.insert({ ...draft });
        notes.audit(act, deeds.addBot({ id, host }), providerId);
        return { id };
      }),
    listBots: (providerId) => backend.read(() => on.list.all({ providerId })),
    findBots: (host) => backend.read(() => on.atHost.all({ host })),
    removeBot: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const known = yield* on.read.get({ providerId, id });
        if (known === null) return false;
        yield* on.remove.run({ id });
        notes.audit(act, deeds.removeBot(known), providerId);
        return true;
      }),
    countBotFetch: async (fetch) => (await backend.change(() => on.count.run({ ...fetch }))) > 0,
    forgetBotFetches: async (beforeDay) => {
      if ((await backend.read(() => on.oldest.get({ beforeDay }))) === null) return false;
      return (await backend.change(() => on.forget.run({ beforeDay }))) > 0;
    },
  };
}
