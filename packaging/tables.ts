/** Tables of the documents, made from those of the program by `make generate`. */

import { GATE_TABLES } from '../src/config/settings/gate.ts';
import { settingRows } from '../src/config/settings/index.ts';
import type { TableKeys } from '../src/config/tables.ts';
import { EVENT_MEANINGS } from '../src/core/event/meanings.ts';
import { PANEL_TRAITS } from '../src/core/panel/index.ts';
import { PANELS, type PanelKind } from '../src/core/panel/kind.ts';
import type { PanelReason } from '../src/core/panel/refusal.ts';
import type { PanelTraits } from '../src/core/panel/traits.ts';
import { OPERATOR_EVENTS, PROVIDER_EVENTS } from '../src/core/port/event.ts';
import type { AnswerRow, Meaning } from '../src/gateway/answer.ts';
import { APNS_ANSWERS } from '../src/gateway/apns-answers.ts';
import { FCM_ANSWERS } from '../src/gateway/fcm-answers.ts';
import { WEBPUSH_ANSWERS } from '../src/gateway/webpush-answers.ts';
import { PANEL_TABLES } from './panel-reports.ts';
import { RIDE_TABLES } from './ride-tables.ts';

const code = (text: string) => `\`${text}\``;

/** A table of Markdown; the empty text if it has no rows. */
export function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('\n', ' ').replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** Rows of the keys that the tables of a setting have. */
function keyRows(keys: TableKeys): string[][] {
  const standard = (text: string | null) =>
    text === null ? '*(required)*' : text === '' ? '*(none)*' : code(text);
  return Object.values(keys).map((row) => [code(row.key), standard(row.default)]);
}

/** The effect of an answer, in the words of docs/gateways.md. */
const EFFECTS: Readonly<Record<Meaning, string>> = {
  accepted: 'accepted',
  retry: 'tried again',
  dead: 'dropped',
  credentials: 'stops',
  failed: 'fails',
  token: 'tried again with a new token; if that is refused too, stops',
  foreign: 'kept, dropped later',
  throttled: 'this one is tried again, the others go on',
  unclear: 'this one is tried again, for a day; kept',
};

/** The answers of a service by their effect, each as its status and code. */
function answerRows(answers: readonly AnswerRow[]): string[][] {
  const byEffect = new Map<string, string[]>();
  for (const { status, code: word, means } of answers) {
    const statuses = typeof status === 'number' ? String(status) : status.join(' to ');
    const named = byEffect.get(EFFECTS[means]) ?? [];
    named.push(word === null ? statuses : `${statuses} ${code(word)}`);
    byEffect.set(EFFECTS[means], named);
  }
  return [...byEffect].map(([effect, named]) => [[...new Set(named)].join(', '), effect]);
}

/** The variable of most settings; the page has the rule, and the others in its table. */
const usualVariable = (key: string) =>
  `GATEPOST_${key
    .replace(/^(?:server|limits)\./, '')
    .replaceAll('.', '_')
    .toUpperCase()}`;

/** The most fields of an event that stand in its row although an event before has the same. */
const SAID_AGAIN_MAX = 4;

const eventRows = (kinds: readonly (keyof typeof EVENT_MEANINGS)[]) =>
  kinds.map((kind) => {
    const { about, fields } = EVENT_MEANINGS[kind];
    const first = kinds.find((one) => `${EVENT_MEANINGS[one].fields}` === `${fields}`) ?? kind;
    const isSaid = first !== kind && fields.length > SAID_AGAIN_MAX;
    return [code(kind), about, isSaid ? `as ${code(first)}` : fields.map(code).join(', ')];
  });

const KEYS = { plain: 'the key itself', uuid: 'a UUID in any case of letters' };
const yes = (is: boolean) => (is ? 'yes' : 'no');

/** The facts about panels of docs/panels.md. */
const PANEL_FACTS: Readonly<Record<string, (of: PanelTraits, panel: PanelKind) => string>> = {
  Version: ({ version }) => version,
  'The key in a path': ({ keys }) => (typeof keys === 'string' ? KEYS[keys] : 'a signed token'),
  'Its `key`': ({ keys }, panel) => code(keys === 'plain' ? keys : panel),
  'A limit of devices for each user': ({ givesLimits }) => yes(givesLimits),
  'A limit that is none': ({ limitMeaningNone }) =>
    limitMeaningNone === null ? '0' : `0, and from ${limitMeaningNone} up`,
  'Refuses a device without a HWID': (of) => refusedWith(of, 'hwid_required'),
  'Refuses one over the limit': (of) => refusedWith(of, 'link_limit_reached'),
  'Answers an unknown key': ({ statusOfNoUser }) =>
    statusOfNoUser === null ? 'not at all' : String(statusOfNoUser),
  'Its page has the servers': ({ pageHasServers }) => yes(pageHasServers),
  'Names its page to apps': ({ hasOwnButton }) => yes(hasOwnButton),
  'Parameters that pass': ({ queryNames }) => queryNames.map(code).join(', ') || 'none',
  'Tokens of its API': ({ api }) =>
    api.signIn === null ? 'last' : 'end; an account gives new ones',
  'New credentials while the link stays (`cut_off`)': ({ cutOff }) => yes(!('why' in cutOff)),
  '`panel_admin` names': ({ cutOff }) => ('why' in cutOff ? '' : cutOff.owner),
};

/** Returns the refusal of a device; a panel without limits has none. */
function refusedWith({ givesLimits, refusalOf }: PanelTraits, reason: PanelReason): string {
  const { status, body } = refusalOf(reason);
  if (!givesLimits) return 'never';
  return body === null ? `${status}, the reason as a server` : String(status);
}

/** Tables by the document that has them; the first cell of the head tells where they are. */
export const TABLES: readonly { page: string; head: string; table: string }[] = [
  {
    page: 'docs/configuration.md',
    head: 'Key',
    table: table(
      ['Key', 'Variable', 'Default', ''],
      settingRows.map(([, row]) => [
        code(row.key),
        row.env === '' ? '*(file only)*' : row.env === usualVariable(row.key) ? '' : code(row.env),
        row.default === '' ? '*(none)*' : code(row.default),
        [row.isLive ? 'reload' : '', row.isSecret ? 'secret' : ''].filter(Boolean).join(', '),
      ]),
    ),
  },
  {
    page: 'docs/configuration.md',
    head: 'Upstream',
    table: table(['Upstream', 'Default'], keyRows(GATE_TABLES.upstreamKeys)),
  },
  {
    page: 'docs/configuration.md',
    head: 'Text',
    table: table(
      ['Text', 'When'],
      Object.values(GATE_TABLES.textKeys).map((row) => [code(row.key), row.about.join(' ')]),
    ),
  },
  {
    page: 'docs/gateways.md',
    head: 'FCM',
    table: table(['FCM', 'Effect'], answerRows(FCM_ANSWERS)),
  },
  {
    page: 'docs/gateways.md',
    head: 'APNs',
    table: table(['APNs', 'Effect'], answerRows(APNS_ANSWERS)),
  },
  {
    page: 'docs/gateways.md',
    head: 'Web Push',
    table: table(['Web Push', 'Effect'], answerRows(WEBPUSH_ANSWERS)),
  },
  {
    page: 'docs/webhooks.md',
    head: 'Event',
    table: table(['Event', 'What happened', '`data`'], eventRows([...PROVIDER_EVENTS])),
  },
  {
    page: 'docs/webhooks.md',
    head: "Operator's",
    table: table(["Operator's", 'What happened', '`data`'], eventRows([...OPERATOR_EVENTS])),
  },
  ...PANEL_TABLES.map(({ page, head, rows }) => ({
    page,
    head: head[0] ?? '',
    table: table(head, rows),
  })),
  {
    page: 'docs/panels.md',
    head: 'Fact',
    table: table(
      ['Fact', ...PANELS.map((panel) => PANEL_TRAITS[panel].title)],
      Object.entries(PANEL_FACTS).map(([fact, cell]) => [
        fact,
        ...PANELS.map((panel) => cell(PANEL_TRAITS[panel], panel)),
      ]),
    ),
  },
  ...RIDE_TABLES.map(({ page, head, rows }) => ({
    page,
    head: head[0] ?? '',
    table: table(head, rows),
  })),
];
