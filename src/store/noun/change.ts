/** Reads the newest rows, by which open pages notice changes: a few rows of an index each. */

import type { NewestOfAll, NewestOfProvider } from '../../core/port/change.ts';
import { type ChangeStore, NEWEST_COUNT } from '../../core/port/change.ts';
import type { Backend } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';

/** Longest entries of a block that is read, bytes: longer blocks come from moves. */
const ENTRIES_LENGTH_MAX = 65_536;
/** Distributions and jobs that are compared. */
const MARKED_COUNT = 20;

export function changeNoun(backend: Backend): Omit<ChangeStore, 'readCommitMark'> {
  const { prepare } = backend;
  const newest = sql`ORDER BY id DESC LIMIT ${NEWEST_COUNT}`;
  const ofProvider = sql`provider_id = :providerId`;
  const message = sql`
    SELECT ${columns('distribution', 'id')}, ${values<{ mark: string }>({
      mark: sql`concat_ws(':', status, cursor_source, cursor_id, recipient_count, sent_count,
        failed_count, push_waiting_count, expired_at_ms, pruned_at_ms)`,
    })}
    FROM distribution WHERE ${ofProvider}`;
  const on = {
    slots: prepare(sql`
        SELECT ${columns('install_device', 'id, installId, providerId')} FROM install_device
        WHERE id > :slotId ${newest}`),
    blocks: prepare(sql`
        SELECT ${columns('audit', 'lastNumber AS number')},
          ${values<{ entries: NewestOfAll['blocks'][number]['entries'] }>({
            entries: sql`CASE WHEN length(entries) <= ${ENTRIES_LENGTH_MAX} THEN entries END`,
          })}
        FROM audit WHERE last_number > :blockNumber
        ORDER BY last_number DESC LIMIT ${NEWEST_COUNT}`),
    slotEnds: prepare(sql`
        SELECT ${columns('slot_end', 'id, installId')}
        FROM slot_end WHERE ${ofProvider} ${newest}`),
    messages: prepare(sql`${message} ORDER BY id DESC LIMIT ${MARKED_COUNT}`),
    unfinished: prepare(sql`
        ${message} AND status < 100 AND handed_over_at_ms IS NULL
        ORDER BY due_at_ms LIMIT ${MARKED_COUNT}`),
    jobs: prepare(sql`
        SELECT ${columns('job', 'id')},
          ${values<{
            mark: NewestOfProvider['jobs'][number]['mark'];
            isOver: NewestOfProvider['jobs'][number]['isOver'];
          }>({
            mark: sql`concat_ws(':', state, total_count, seen_count, changed_count)`,
            isOver: sql`CAST(ended_at_ms IS NOT NULL AS integer)`,
          })}
        FROM job WHERE ${ofProvider} ORDER BY id DESC LIMIT ${MARKED_COUNT}`),
    counts: prepare(sql`
        SELECT ${values<{ unlisted: string; figures: string }>({
          unlisted: sql`(SELECT concat_ws(':', count(*), sum(deed_count)) FROM audit_fold
            WHERE provider = p.code)`,
          figures: sql`concat_ws(':', d.sends, d.recipients, d.delivered, d.received, d.opened,
            d.executed,
            d.failed, d.expired, d.carried)`,
        })} FROM provider p LEFT JOIN provider_day d ON d.provider_id = p.id AND d.day = :day
        WHERE p.id = :providerId`),
  };
  return {
    readNewestOfAll: async (after) => {
      const [slots, blocks] = await backend.read(() =>
        backend.together([() => on.slots.all(after), () => on.blocks.all(after)]),
      );
      return { slots, blocks };
    },

    readNewestOf: async (providerId, day) => {
      const of = { providerId };
      const [slotEnds, newest, unfinished, jobs, counts] = await backend.read(() =>
        backend.together([
          () => on.slotEnds.all(of),
          () => on.messages.all(of),
          () => on.unfinished.all(of),
          () => on.jobs.all(of),
          () => on.counts.get({ providerId, day }),
        ]),
      );
      const { unlisted, figures } = counts ?? { unlisted: '', figures: '' };
      return { slotEnds, messages: [...newest, ...unfinished], jobs, unlisted, figures };
    },
  };
}
