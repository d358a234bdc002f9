/** Webhooks that were disabled for their failures: what doctor, console and metrics say of them. */

import { DISABLED_BY_OWNER, type DisabledWebhooks } from '../../core/port/webhook.ts';
import type { Statements, Step } from '../backend.ts';
import { columns, ofTable, sql, values } from '../statement-text.ts';
import { WEBHOOK_FIELDS, webhookIn } from '../webhook-row.ts';

/** The reason of a webhook while it is being removed. */
export const WHY_REMOVED = 'it is being removed';

export function disabledWebhooks({ prepare }: Statements) {
  const isDisabled = sql`w.disabled_at_ms IS NOT NULL
    AND w.disabled_why NOT IN (${DISABLED_BY_OWNER}, ${WHY_REMOVED})`;
  const counts = prepare(sql`
      SELECT ${values<{ operatorCount: number; providerCount: number }>({
        operatorCount: sql`count(*) FILTER (WHERE w.provider_id IS NULL)`,
        providerCount: sql`count(w.provider_id)`,
      })}
      FROM webhook w WHERE ${isDisabled}`);
  const some = prepare(sql`
      SELECT ${columns({ w: 'webhook', p: 'provider?' }, [
        ...ofTable('w', WEBHOOK_FIELDS),
        'p.code AS providerCode',
      ])}
      FROM webhook w LEFT JOIN provider p ON p.id = w.provider_id WHERE ${isDisabled}
      ORDER BY w.provider_id IS NOT NULL, w.disabled_at_ms DESC, w.id LIMIT :countMax`);
  return function* (countMax: number): Step<DisabledWebhooks> {
    const found = yield* counts.get();
    const rows = yield* some.all({ countMax });
    return {
      ...(found ?? { operatorCount: 0, providerCount: 0 }),
      some: rows.map(webhookIn),
    };
  };
}
