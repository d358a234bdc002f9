/** Entries of the audit log by days: a sentence for each, with its actor. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { actionName, systemsOf } from '../pages/message-words.tsx';
import { go, texts } from '../state.ts';
import { Button } from './button.tsx';
import { kept, time } from './format.ts';
import { Nothing } from './layout.tsx';
import { Problem, useWork } from './work.tsx';

/** An entry; in the appliance's log it has the code of its provider. */
type Entry = Got<'activity.list'>['rows'][number] & { provider?: string | null };
type Fact = Entry['object'][string] | undefined;

export interface Page {
  rows: readonly Entry[];
  next: Got<'activity.list'>['next'];
}

type Read = (before: Page['next'], signal?: AbortSignal) => Promise<Page>;

/** The most calls in a row: the server bounds the rows that it reads, so a page may be empty. */
const CALLS_MAX = 6;
const ENOUGH = 20;

/** Asks for entries until they fill a screen, at most {@link CALLS_MAX} times. */
export async function readEnough(
  read: Read,
  from: Page['next'],
  signal?: AbortSignal,
): Promise<Page> {
  const rows: Entry[] = [];
  let before = from;
  for (let calls = 0; calls < CALLS_MAX; calls++) {
    const page = await read(before, signal);
    rows.push(...page.rows);
    before = page.next;
    if (before === null || rows.length >= ENOUGH) break;
  }
  return { rows, next: before };
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Fields in which null stands for the default. */
const WITH_DEFAULT = new Set([
  ...['inactive_days', 'when_full', 'cool_down_hours', 'enforce', 'without_hwid', 'same_phone'],
  ...['same_phone_hours', 'copied_hwid'],
  'when_new',
  ...['max_links', 'ride', 'buttons'],
]);

function factText(field: string, fact: Fact): string {
  const { nothing, usual, values } = texts.activity;
  if (fact === null || fact === undefined) return WITH_DEFAULT.has(field) ? usual : nothing;
  const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    ...texts.choices,
    ...values,
    role: texts.staff.roles,
  };
  const word = words[field]?.[`${fact}`];
  if (word !== undefined) return word;
  if (typeof fact !== 'string' || !ISO_TIME.test(fact)) return `${fact}`;
  return time(Date.parse(fact));
}

/** Returns the changed fields of an entry, without the status of messages: the sentence has it. */
function changesOf({ action, change }: Entry): string[] {
  if (action.startsWith('distribution.')) return [];
  const words = texts.activity;
  const names: Readonly<Record<string, string>> = texts.labels;
  return Object.entries(change).map(([field, values]) => {
    const name = names[field] ?? field;
    if (values === 'changed') return words.changed(name);
    return words.change(name, factText(field, values[0]), factText(field, values[1]));
  });
}

function actorOf({ key, name, who }: Entry): string {
  const { actors, byKey } = texts.activity;
  if (who === 'account') return name;
  if (who === 'system' || who === 'user') return actors[who];
  if (who === 'operator') return `${actors.operator} ${name}`;
  return key === null ? actors.provider : byKey(key);
}

/** Returns the facts for a sentence, with the names of systems and actions. */
function aboutOf({ object }: Entry): Entry['object'] {
  const { action_type: action, os } = object;
  return {
    ...object,
    ...(typeof os === 'string' && { os: systemsOf(os.split(',')) }),
    ...(typeof action === 'string' && { action_type: actionName(action) }),
  };
}

/** Returns the address of the record in an entry; null: no page shows it. */
function recordOf({
  action,
  object,
  provider,
}: Entry): [path: string, more: Record<string, string>] | null {
  const isLink = action.startsWith('install.') && action !== 'install.remove';
  const ofHwid = action.startsWith('hwid.');
  const id = ofHwid ? object['install_id'] : object['id'];
  // An entry of a job is about many records.
  if (typeof id !== 'number') return null;
  // In the appliance's log the entry names the provider of the record.
  if (provider === null) return null;
  const where: Record<string, string> = provider === undefined ? {} : { at: provider };
  if (isLink || ofHwid) return ['/console/links', { ...where, link: `${id}` }];
  const isMessage = /^(?:notification|command|distribution)\./.test(action);
  return isMessage ? ['/console/messages', { ...where, message: `${id}` }] : null;
}

const clocks = kept((tag) => new Intl.DateTimeFormat(tag, { timeStyle: 'short' }));

function Item({ entry }: { entry: Entry }) {
  const words = texts.activity;
  const { by = '', folded = 1, unlisted_before: unlisted = 0 } = entry.object;
  const sentence = words.sentences[entry.action](aboutOf(entry));
  const record = recordOf(entry);
  return (
    <li>
      <time dateTime={new Date(entry.atMs).toISOString()}>{clocks().format(entry.atMs)}</time>
      <div>
        {record === null ? (
          <p dir="auto">{sentence}</p>
        ) : (
          <Button label={sentence} class="plain" dir="auto" onClick={() => go(...record)} />
        )}
        {changesOf(entry).map((text) => (
          <p key={text} class="hint">
            <bdi>{text}</bdi>
          </p>
        ))}
        {Number(folded) > 1 && (
          <p class="hint" dir="auto">
            {words.folded(Number(folded), `${by}`)}
          </p>
        )}
        {Number(unlisted) > 0 && <p class="hint">{words.unlisted(Number(unlisted))}</p>}
      </div>
      <p class="activity-actor">
        <bdi>{actorOf(entry)}</bdi>
        {entry.provider != null && <bdi class="code">{entry.provider}</bdi>}
        {entry.from !== null && <small>{words.from(entry.from)}</small>}
      </p>
    </li>
  );
}

/** Groups entries by days of the viewer's zone. */
function daysOf(rows: readonly Entry[]): { day: string; entries: Entry[] }[] {
  const weekday = new Intl.DateTimeFormat(texts.tag, { weekday: 'long' });
  const date = new Intl.DateTimeFormat(texts.tag, { dateStyle: 'long' });
  const days: { day: string; entries: Entry[] }[] = [];
  for (const entry of rows) {
    const day = `${weekday.format(entry.atMs)} · ${date.format(entry.atMs)}`;
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(entry);
    else days.push({ day, entries: [entry] });
  }
  return days;
}

interface ListProps {
  first: Page;
  read: Read;
  /** True without a filter. */
  isAll: boolean;
}

export function Entries({ first, isAll, read }: ListProps) {
  const words = texts.activity;
  const page = useSignal(first);
  const { isBusy, problem, run } = useWork();
  const { next, rows } = page.value;
  const more = () =>
    run(async () => {
      const found = await readEnough(read, next);
      page.value = { rows: [...rows, ...found.rows], next: found.next };
    });
  return (
    <>
      {rows.length === 0 && (
        <Nothing
          title={isAll ? words.none : words.noMatch}
          hint={next !== null ? words.looking : isAll ? words.noneHint : words.noMatchHint}
        />
      )}
      {daysOf(rows).map(({ day, entries: some }) => (
        <section key={day} class="activity">
          <h2>{day}</h2>
          <ol>
            {some.map((entry) => (
              <Item key={entry.number} entry={entry} />
            ))}
          </ol>
        </section>
      ))}
      <div class="below">
        <p role="status">{rows.length === 0 ? '' : words.shown(rows.length)}</p>
        <Problem of={problem} />
        {next !== null && (
          <Button
            label={rows.length === 0 ? texts.common.further : texts.common.more}
            onClick={more}
            disabled={isBusy.value}
          />
        )}
      </div>
    </>
  );
}
