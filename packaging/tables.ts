/** Tables of the documents, made from those of the program by `make generate`. */

import { GATE_TABLES } from '../src/config/settings/gate.ts';
import { settingRows } from '../src/config/settings/index.ts';
import type { TableKeys } from '../src/config/tables.ts';
import { EVENT_MEANINGS } from '../src/core/event/meanings.ts';
import { OPERATOR_EVENTS, PROVIDER_EVENTS } from '../src/core/port/event.ts';
import type { AnswerRow, Meaning } from '../src/gateway/answer.ts';
import { APNS_ANSWERS } from '../src/gateway/apns-answers.ts';
import { FCM_ANSWERS } from '../src/gateway/fcm-answers.ts';
import { WEBPUSH_ANSWERS } from '../src/gateway/webpush-answers.ts';
import { WEBHOOK_ANSWERS } from '../src/webhook/answers.ts';
import { TELEGRAM_ERRORS } from '../src/webhook/telegram/errors.ts';
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

/**
 * Rows of a table of answers; services without codes have no column for them. Rows one after the
 * other with the same status, or the same code, and the same effect are one.
 */
function answerRows(answers: readonly AnswerRow[], hasCodes: boolean): string[][] {
  const rows: string[][] = [];
  for (const { status, code: word, means, problem } of answers) {
    const statuses = typeof status === 'number' ? String(status) : status.join(' to ');
    const codes = word === null ? '' : code(word);
    const last = rows.at(-1);
    const isSame = last?.[2] === EFFECTS[means] && last[3] === problem;
    if (isSame && last[0] === statuses && last[1] !== '' && codes !== '') last[1] += `, ${codes}`;
    else if (isSame && last[1] === codes) last[0] += `, ${statuses}`;
    else rows.push([statuses, codes, EFFECTS[means], problem]);
  }
  return hasCodes ? rows : rows.map(([statuses = '', , ...rest]) => [statuses, ...rest]);
}

const WHAT_FOLLOWS = {
  accepted: 'delivered',
  retry: 'tried again',
  wait: 'waits as long as it asks, else tried again',
  failed: 'given up; the tenth in a row disables the webhook',
  dead: 'disabled at once',
  credentials: 'disabled at once',
  follow: 'the webhook follows the group; without the new id disabled at once',
  bare: 'sent again without the button',
} as const;

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
    table: table(['FCM', 'Code', 'Effect', 'In the ledger'], answerRows(FCM_ANSWERS, true)),
  },
  {
    page: 'docs/gateways.md',
    head: 'APNs',
    table: table(['APNs', 'Reason', 'Effect', 'In the ledger'], answerRows(APNS_ANSWERS, true)),
  },
  {
    page: 'docs/gateways.md',
    head: 'Web Push',
    table: table(['Web Push', 'Effect', 'In the ledger'], answerRows(WEBPUSH_ANSWERS, false)),
  },
  {
    page: 'docs/webhooks.md',
    head: 'Answer',
    table: table(
      ['Answer', 'What it means', 'What follows'],
      WEBHOOK_ANSWERS.map(({ from, to, about, verdict }) => [
        from === to ? `${from}` : `${from} to ${to}`,
        about,
        WHAT_FOLLOWS[verdict],
      ]),
    ),
  },
  {
    page: 'docs/telegram.md',
    head: 'Telegram',
    table: table(
      ['Telegram', 'What it means', 'Remedy', 'What follows'],
      TELEGRAM_ERRORS.map(({ code: status, texts, about, remedy, verdict }) => [
        [`${status}`, ...texts.slice(0, 1)].join(' '),
        about,
        remedy,
        WHAT_FOLLOWS[verdict],
      ]),
    ),
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
  ...RIDE_TABLES.map(({ head, rows }) => ({
    page: 'docs/messages-in-apps.md',
    head: head[0] ?? '',
    table: table(head, rows),
  })),
];
