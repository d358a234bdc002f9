/** The doctor's reads of a database of either kind. */

import type { Finding } from '../../base/finding.ts';
import { INSTALL_LIMIT } from '../../core/formats.ts';
import { hostHash } from '../../core/host-name.ts';
import { JUNK_WORDS } from '../../core/junk-hwid.ts';
import { PANEL_TRAITS } from '../../core/panel/index.ts';
import { PANELS } from '../../core/panel/kind.ts';
import { DOMAIN_ACTIVE } from '../../core/port/domain.ts';
import type { KeptTime } from '../../core/port/time.ts';
import type { KeptUpstream } from '../../core/port/upstream.ts';
import type { DisabledWebhooks } from '../../core/port/webhook.ts';
import { activityWord } from '../../core/status-word.ts';
import { POLICY_TERMS } from '../../core/terms.ts';
import type { Statements, Step } from '../backend.ts';
import type {
  BoundHost,
  DatabaseReport,
  HostOfProvider,
  HostsOf,
  HwidCopies,
  PrivateName,
} from '../kind.ts';
import { columns, sql, values } from '../statement-text.ts';
import { readBotFetches, readUnused } from './bot-survey.ts';
import { readCuts } from './cut-off-rows.ts';
import { disabledWebhooks } from './disabled-webhook.ts';
import { followRows } from './follow.ts';
import { DISABLED_BY_IMPORT } from './panel-link.ts';
import { seenSightings } from './sighting.ts';
import { keptTimes, timesIn } from './time.ts';
import { upkeepOf, upkeepRows } from './upkeep.ts';
import { keptUpstreams } from './upstream.ts';

/** The facts of a report besides the contents. */
type Facts = Pick<DatabaseReport, 'newestMs' | 'bytes' | 'otherNodes'>;

export type Contents = Omit<DatabaseReport, 'findings' | keyof Facts> & {
  disabled: DisabledWebhooks;
  times: KeptTime[];
  kept: KeptUpstream[];
};

/** Most disabled webhooks that are named. */
const WEBHOOK_COUNT_MAX = 500;
/** Most providers that are named because their links admit apps without a HWID. */
const PASSING_COUNT_MAX = 20;

export const NO_CONTENTS: Contents = {
  hosts: [],
  signingKey: null,
  stopped: [],
  waiting: [],
  hasSubscriptions: false,
  passing: [],
  disabledByImport: [],
  unlimited: [],
  unused: [],
  botFetches: [],
  copies: { linkCount: 0, ruleCount: 0 },
  cuts: { stops: [], waiting: [] },
  paged: [],
  sightings: [],
  follows: [],
  upkeep: [],
  names: [],
  counts: {},
  times: [],
  junk: [],
  disabled: { operatorCount: 0, providerCount: 0, some: [] },
  kept: [],
};

/** Makes a report; without contents that of a database which could not be read. */
export function reportOf(
  findings: Finding[],
  { disabled: _webhooks, times: _times, kept: _kept, ...contents } = NO_CONTENTS,
  facts: Partial<Facts> = {},
): DatabaseReport {
  return { findings, ...contents, newestMs: null, bytes: 0, otherNodes: [], ...facts };
}

/** Reads what the doctor looks for; of an older schema the hosts alone. */
export function* surveyContents(
  statements: Statements,
  hostsOf: HostsOf,
  isCurrent = true,
): Step<Contents> {
  const contents = isCurrent ? yield* readContents(statements) : NO_CONTENTS;
  const asked = hostsOf(contents.kept);
  const unused = isCurrent ? yield* readUnused(statements, asked) : [];
  return { ...contents, unused, hosts: yield* readHosts(statements, asked) };
}

/** Reads the bindings of hosts, which exist in every schema. */
function* readHosts(statements: Statements, asked: readonly HostOfProvider[]): Step<BoundHost[]> {
  const find = statements.prepare(sql`
      SELECT ${columns({ d: 'domain?' }, 'd.status')} FROM provider p
        LEFT JOIN domain d ON d.provider_id = p.id AND d.domain_hash = :hash
      WHERE p.code = :provider`);
  const hosts: BoundHost[] = [];
  for (const { host, provider } of asked) {
    hosts.push(boundHost(yield* find.get({ hash: hostHash(host), provider })));
  }
  return hosts;
}

/**
 * Condition for links whose panel has no limit for their user: a field of `panel_facts`, whose
 * quotes a note cannot have. Versions before 0.18.0 did not note it.
 */
const CHOSEN_BY_IMPORT = sql.raw(`(i.panel_facts LIKE '%"isPanelLimit":false%'
  OR (i.panel_facts NOT LIKE '%"isPanelLimit":%' AND (${PANELS.filter(
    (panel) => !PANEL_TRAITS[panel].givesLimits,
  )
    .map((panel) => `i.panel_user LIKE '${panel}:%' OR i.panel_user LIKE '${panel}/%'`)
    .join(' OR ')})))`);

/** The rule of `isJunkHwid`. */
const IS_JUNK = sql.raw(`(lower(v.hwid) IN (${JUNK_WORDS.map((word) => `'${word}'`).join(', ')})
  OR (v.hwid LIKE '%0%' AND replace(replace(v.hwid, '0', ''), '-', '') = '')
  OR (length(v.hwid) >= 8 AND replace(v.hwid, substr(v.hwid, 1, 1), '') = ''))`);

/** Most HWIDs that are named because they name no device. */
const JUNK_COUNT_MAX = 10;

/** Prepares the statement that lists HWIDs which name no device and hold slots. */
const heldByJunk = ({ prepare, join }: Statements) =>
  prepare(sql`
      SELECT ${columns({ v: 'device' }, 'v.hwid')},
        ${values<{ slotCount: DatabaseReport['junk'][number]['slotCount'] }>({
          slotCount: sql`count(*)`,
        })}
      FROM device v ${join} install_device s ON s.device_id = v.id
      WHERE ${IS_JUNK} GROUP BY v.hwid ORDER BY count(*) DESC, v.hwid LIMIT ${JUNK_COUNT_MAX}`);

/** Counts the links that take several phones for one device, and the rules that do not. */
function* readCopies({ prepare, join }: Statements): Step<HwidCopies> {
  const isStrict = sql.raw("copied_hwid IN ('count', 'refuse')");
  const found = yield* prepare(sql`
      SELECT ${values<{ [F in keyof HwidCopies]: number }>({
        linkCount: sql`(
          SELECT count(DISTINCT f.install_id) FROM slot_phone f
            ${join} install i ON i.id = f.install_id ${join} provider p ON p.id = i.provider_id
          WHERE f.state = 'certain'
            AND coalesce(i.copied_hwid, p.copied_hwid, ${sql.raw(`'${POLICY_TERMS.copiedHwid.usual}'`)}) = 'tell')`,
        ruleCount: sql`(SELECT count(*) FROM install WHERE ${isStrict})
          + (SELECT count(*) FROM provider WHERE ${isStrict})`,
      })}`).get();
  return found ?? NO_CONTENTS.copies;
}

/** Most names of a kind that are read. */
const NAME_COUNT_MAX = 10_000;

/** Reads the names of providers, accounts and chats. */
function* readNames({ prepare }: Statements): Step<PrivateName[]> {
  const providers = prepare(sql`
      SELECT ${columns('provider', 'code, name')} FROM provider
      ORDER BY id LIMIT ${NAME_COUNT_MAX}`);
  const people = prepare(sql`
      SELECT ${columns('account', 'name')} FROM account ORDER BY id LIMIT ${NAME_COUNT_MAX}`);
  const chats = prepare(sql`
      SELECT ${columns('webhook', 'address AS name')} FROM webhook WHERE kind = 'telegram'
      ORDER BY id LIMIT ${NAME_COUNT_MAX}`);
  const named = (kind: PrivateName['kind'], rows: readonly { name: string }[]) =>
    rows.map(({ name }) => ({ kind, name }));
  const ofProviders = (yield* providers.all()).flatMap(({ code, name }) => [
    { kind: 'provider' as const, name: code },
    { kind: 'provider' as const, name },
  ]);
  return [
    ...ofProviders,
    ...named('person', yield* people.all()),
    ...named('chat', yield* chats.all()),
  ];
}

/** The tables whose rows a report of a fault counts. */
const COUNTED = ['provider', 'install', 'install_device', 'device', 'domain', 'webhook', 'outbox'];

function* readCounts({ prepare }: Statements): Step<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of COUNTED) {
    const count = prepare(sql`
        SELECT ${values<{ count: number }>({ count: sql`count(*)` })} FROM ${sql.raw(table)}`);
    counts[table] = (yield* count.get())?.count ?? 0;
  }
  return counts;
}

/** Reads the outbox, the webhooks of the operator, policies and stored upstreams. */
function* readContents(statements: Statements): Step<Omit<Contents, 'hosts' | 'unused'>> {
  const { prepare } = statements;
  const stopped = prepare(sql`
      SELECT ${columns('destination', 'kind AS gateway')},
        ${values<{ problem: DatabaseReport['stopped'][number]['problem'] }>({
          problem: sql`coalesce(problem, '')`,
        })}
      FROM destination
      WHERE stopped_at_ms IS NOT NULL AND webhook_id IS NULL`);
  const waiting = prepare(sql`
      SELECT ${columns('destination', 'kind AS gateway')},
        ${values<{ count: number }>({ count: sql`CAST(sum(waiting_count) AS bigint)` })}
      FROM destination
      WHERE waiting_count > 0 AND webhook_id IS NULL GROUP BY kind ORDER BY kind`);
  const signingKey = prepare(sql`SELECT ${columns('signing_key', 'key')} FROM signing_key`);
  const subscription = prepare(sql`
      SELECT id FROM device_token WHERE push LIKE '%"gateway":"webpush"%' LIMIT 1`);
  const passing = prepare(sql`
      SELECT ${columns({ p: 'provider' }, 'p.code')} FROM provider p WHERE p.without_hwid = 'pass'
        OR p.id IN (SELECT i.provider_id FROM install i WHERE i.without_hwid = 'pass')
      ORDER BY p.id LIMIT ${PASSING_COUNT_MAX}`);
  const byImport = prepare(sql`
      SELECT ${columns({ p: 'provider' }, 'p.code')},
        ${values<{ count: number }>({ count: sql`count(*)` })}
      FROM install i ${statements.join} provider p ON p.id = i.provider_id
      WHERE ${DISABLED_BY_IMPORT} GROUP BY p.id, p.code ORDER BY p.id LIMIT ${PASSING_COUNT_MAX}`);
  const unlimited = prepare(sql`
      SELECT ${columns({ p: 'provider' }, 'p.code')},
        ${values<{ linkCount: DatabaseReport['unlimited'][number]['linkCount'] }>({
          linkCount: sql`count(*)`,
        })}
      FROM provider p JOIN install i ON i.provider_id = p.id
      WHERE i.install_limit = ${INSTALL_LIMIT.maximum} AND ${CHOSEN_BY_IMPORT}
      GROUP BY p.id, p.code ORDER BY p.id LIMIT ${PASSING_COUNT_MAX}`);
  const paged = prepare(
    sql`SELECT ${columns('provider', 'code')} FROM provider WHERE my = 1 ORDER BY id`,
  );
  const times = timesIn(yield* keptTimes(statements).all());
  const junk = yield* heldByJunk(statements).all();
  const names: PrivateName[] = [
    ...(yield* readNames(statements)),
    ...times.map(({ name }) => ({ kind: 'node' as const, name })),
    ...junk.map(({ hwid }) => ({ kind: 'device' as const, name: hwid })),
  ];
  return {
    names,
    times,
    junk,
    counts: yield* readCounts(statements),
    paged: (yield* paged.all()).map(({ code }) => code),
    disabledByImport: yield* byImport.all(),
    unlimited: yield* unlimited.all(),
    botFetches: yield* readBotFetches(statements),
    copies: yield* readCopies(statements),
    cuts: yield* readCuts(statements),
    passing: (yield* passing.all()).map(({ code }) => code),
    signingKey: (yield* signingKey.get())?.key ?? null,
    stopped: yield* stopped.all(),
    waiting: yield* waiting.all(),
    hasSubscriptions: (yield* subscription.get()) !== null,
    disabled: yield* disabledWebhooks(statements)(WEBHOOK_COUNT_MAX),
    kept: yield* keptUpstreams(statements).all(),
    sightings: yield* seenSightings(statements).all(),
    follows: yield* followRows(statements).all(),
    upkeep: (yield* upkeepRows(statements).all()).map(upkeepOf),
  };
}

function boundHost(found: { status: number | null } | null): BoundHost {
  if (found === null) return 'provider_not_found';
  if (found.status === null) return 'not_bound';
  return activityWord(found.status === DOMAIN_ACTIVE);
}
