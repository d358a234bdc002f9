/** Look-ups by a key that nearly each call begins with: those of a turn share a statement. */

import { sql } from 'drizzle-orm';
import type { Provider } from '../../../core/port/provider.ts';
import type { Store } from '../../../core/port/store.ts';
import { PROVIDER_COLUMNS } from '../../noun/provider.ts';
import type { Context } from '../context.ts';
import { TurnGroup } from '../group.ts';
import { prepare, value } from '../statement.ts';

/** Look-ups of one statement. */
const LOOK_UPS_MAX = 64;

const findAll = prepare<Provider>(sql`
    SELECT ${PROVIDER_COLUMNS} FROM provider WHERE code = ANY(${value('codes')}::text[])`);

export function lookUps({ db }: Context): Pick<Store, 'findProvider'> {
  const providers = new TurnGroup(db, {
    itemsMax: LOOK_UPS_MAX,
    run: async (codes: readonly string[]) => {
      const found = await findAll.all(db, { codes: [...new Set(codes)] });
      const byCode = new Map(found.map((provider) => [provider.code, provider]));
      return codes.map((code) => byCode.get(code) ?? null);
    },
  });
  return { findProvider: (code) => providers.ask(code) };
}
