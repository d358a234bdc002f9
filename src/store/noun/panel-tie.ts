/** The ties of links to users of panels, which imports and the answers of panels prove. */

import { isDisabledByImport, provedTie } from '../../core/panel/proof.ts';
import { INSTALL_ACTIVE } from '../../core/port/link.ts';
import type { PanelFacts } from '../../core/port/moving.ts';
import type { PanelTieStore, TiedLink } from '../../core/port/panel-tie.ts';
import type { Backend, Step } from '../backend.ts';
import { columns, sql, values } from '../statement-text.ts';
import { linkChangeSteps } from './link.ts';
import { SET_LIMIT } from './link-rows.ts';

type Row = Omit<TiedLink, 'facts'> & { panelFacts: string | null };

function tiedLink<R extends Pick<Row, 'panelFacts'>>({ panelFacts, ...row }: R) {
  return { ...row, facts: panelFacts === null ? null : (JSON.parse(panelFacts) as PanelFacts) };
}

function statements({ prepare, bytes, hex, join, locked }: Backend) {
  const link = sql`
    SELECT ${columns('install', 'id, status, deviceCount, panelUser, panelFacts, ofGate')}, ${SET_LIMIT},
      ${values<{ subscriptionKeyHash: string | null }>({
        subscriptionKeyHash: hex('subscription_key_hash'),
      })}
    FROM install`;
  const ofProvider = sql`provider_id = :providerId`;
  const hasKey = sql`subscription_key_hash = ${bytes('subscriptionKeyHash')} AND ${ofProvider}`;
  return {
    find: prepare(sql`${link} WHERE ${hasKey}`),
    findWhole: prepare(sql`
        SELECT ${columns('install', 'id, status, deviceCount, panelUser, panelFacts, ofGate')}, ${SET_LIMIT},
          ${columns('install', 'installCode, note')},
          ${values<{ subscriptionKeyHash: string | null }>({
            subscriptionKeyHash: hex('subscription_key_hash'),
          })}
        FROM install WHERE ${hasKey}`),
    byId: prepare(sql`${link} WHERE id = :id`),
    owner: prepare(sql`
        SELECT ${columns({ i: 'install' }, 'i.providerId')},
          ${values<{ providerCode: string }>({ providerCode: sql`o.code` })}
        FROM install i ${join} provider o ON o.id = i.provider_id WHERE i.id = :id`),
    lock: prepare(sql`${link} WHERE ${hasKey} ${locked}`),
    lockById: prepare(sql`${link} WHERE id = :id AND ${ofProvider} ${locked}`),
    ofUser: prepare(sql`
        SELECT ${columns('install', 'id')},
          ${values<{ hasFacts: number }>({
            hasFacts: sql`CAST(panel_facts IS NOT NULL AS integer)`,
          })}
        FROM install
        WHERE ${ofProvider} AND panel_user = :panelUser`),
    tie: prepare(sql`
        UPDATE install SET panel_user = :panelUser, panel_facts = :panelFacts WHERE id = :id`),
  };
}

export function panelTieNoun(backend: Backend): PanelTieStore {
  const on = statements(backend);
  const links = linkChangeSteps(backend);

  function* tie(id: number, panelUser: string | null, facts: PanelFacts | null): Step<void> {
    yield* on.tie.run({ id, panelUser, panelFacts: facts && JSON.stringify(facts) });
  }

  return {
    findTiedLink: (providerId, subscriptionKeyHash) =>
      backend.read(function* () {
        const row = yield* on.find.get({ providerId, subscriptionKeyHash });
        return row && tiedLink(row);
      }),

    findTieOf: (installId) =>
      backend.read(function* () {
        const row = yield* on.byId.get({ id: installId });
        const owner = yield* on.owner.get({ id: installId });
        return row && owner && { ...tiedLink(row), ...owner };
      }),

    listTiedLinks: (providerId, hashes) =>
      backend.read(function* () {
        const found = yield* backend.together(
          hashes.map(
            (subscriptionKeyHash) => () => on.findWhole.get({ providerId, subscriptionKeyHash }),
          ),
        );
        return found.flatMap((row) => (row === null ? [] : [tiedLink(row)]));
      }),

    notePanelUser: (providerId, subscriptionKeyHash, panelUser) =>
      backend.write(function* () {
        // An import looks for the user under the same lock.
        yield* backend.lockProvider(providerId);
        const row = yield* on.lock.get({ providerId, subscriptionKeyHash });
        const after = row && provedTie(tiedLink(row), panelUser);
        if (row === null || after === null) return false;
        const owner = yield* on.ofUser.get({ providerId, panelUser });
        if (owner !== null && owner.id !== row.id) {
          if (owner.hasFacts === 1) return false;
          // The panel gave the user another key.
          yield* tie(owner.id, null, null);
        }
        yield* tie(row.id, after.panelUser, after.facts);
        return true;
      }),

    enableImported: (providerId, id, act) =>
      backend.write(function* (notes) {
        yield* backend.lockProvider(providerId);
        const row = yield* on.lockById.get({ providerId, id });
        const link = row && tiedLink(row);
        if (link?.facts == null || !isDisabledByImport(link.status, link.facts)) return false;
        yield* links.update(notes, { providerId, id, change: { status: INSTALL_ACTIVE } }, act);
        yield* tie(id, link.panelUser, { ...link.facts, status: INSTALL_ACTIVE });
        return true;
      }),
  };
}
