/** The list of messages and commands, with the panel of one beside it. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Given, Got } from '../../http/console/table.ts';
import { call } from '../call.ts';
import { Choice } from '../parts/choice.tsx';
import { number } from '../parts/format.ts';
import { AddIcon } from '../parts/icons.tsx';
import { useLive } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { SendTime } from '../parts/send-time.tsx';
import { go, may, query, texts, wordsFor } from '../state.ts';
import { MessagePanel } from './message-panel.tsx';
import { StateBadge, targetsOf, titleOf } from './message-words.tsx';

type Page = Got<'messages.list'>;
type Message = Page['rows'][number];
type Filter = Pick<Given<'messages.list'>, 'at' | 'show' | 'kind'>;

const PATH = '/console/messages';
/** The most rows that are reloaded after a change. */
const ANEW_MAX = 100;

/** Returns the parameters of the address that this page uses. */
const kept = () => ({
  show: query.value.get('show'),
  kind: query.value.get('kind'),
  message: query.value.get('message'),
});

function filterOf(at: string): Filter {
  const { show, kind } = kept();
  const isShow = (name: string): name is Filter['show'] => name in texts.messages.shows;
  return {
    at,
    show: show !== null && isShow(show) ? show : 'all',
    kind: kind === 'push' || kind === 'command' ? kind : null,
  };
}

/** Returns the id of the message with the open panel; null: no panel is open. */
function openedId(): number | null {
  const id = Number(query.value.get('message'));
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

function Filters({ filter }: { filter: Filter }) {
  const words = texts.messages;
  const choose = (name: 'show' | 'kind') => (value: string) =>
    go(PATH, { ...kept(), [name]: value === 'all' ? null : value }, 'replace');
  return (
    <div class="tools">
      <Choice
        label={words.filter}
        names={words.shows}
        value={filter.show}
        onChoice={choose('show')}
      />
      <select
        aria-label={words.kind}
        value={filter.kind ?? 'all'}
        onChange={({ currentTarget: { value } }) => choose('kind')(value)}
      >
        {Object.entries(words.kinds).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function Reached({ message: { recipients, sent } }: { message: Message }) {
  if (recipients === 0) return <span class="number">–</span>;
  const share = sent / recipients;
  return (
    <span class="share">
      <svg viewBox="0 0 60 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="share-all" width="60" height="6" rx="3" />
        <rect class="share-part" width={60 * share} height="6" rx="3" />
      </svg>
      <bdi>{texts.links.ofLimit(number(sent), number(recipients))}</bdi>
    </span>
  );
}

function Row({ message, isOpen }: { message: Message; isOpen: boolean }) {
  const { id, kind } = message;
  return (
    <tr aria-current={isOpen ? 'true' : undefined}>
      <th scope="row">
        <button
          type="button"
          class="plain message-title"
          id={`message-${id}`}
          aria-expanded={isOpen}
          onClick={() => go(PATH, { ...kept(), message: `${id}` })}
        >
          <bdi>{titleOf(message)}</bdi>
        </button>
        <small class="message-kind">
          {kind === 'push' ? texts.messages.message : texts.messages.command} ·{' '}
          <bdi>{targetsOf(message)}</bdi>
        </small>
      </th>
      <td>
        <StateBadge state={message.state} />
      </td>
      <td>
        <Reached message={message} />
      </td>
      <td>
        <SendTime ms={message.beganAtMs ?? message.dueAtMs ?? message.createdAtMs} />
      </td>
    </tr>
  );
}

/** Keeps rows current. Returns them with the number of new messages. */
function useRows(first: Page, filter: Filter) {
  const rows = useSignal(first.rows);
  const nextId = useSignal(first.nextId);
  const freshCount = useSignal(0);
  const isAsking = useRef(false);
  const problem = useSignal<string | null>(null);

  const isSafe = async (ask: () => Promise<void>) => {
    if (isAsking.current) return;
    isAsking.current = true;
    problem.value = null;
    try {
      await ask();
    } catch (fault) {
      problem.value = wordsFor(fault);
    } finally {
      isAsking.current = false;
    }
  };

  const refresh = async () => {
    const ids = rows.value.slice(0, ANEW_MAX).map(({ id }) => id);
    const all = { at: filter.at, show: 'all', kind: null, beforeId: null } as const;
    const [newest, anew] = await Promise.all([
      call('messages.list', { ...filter, ids: null, beforeId: null }),
      ids.length === 0 ? null : call('messages.list', { ...all, ids }),
    ]);
    const now = new Map((anew?.rows ?? []).map((row) => [row.id, row]));
    rows.value = rows.value.map((row) => now.get(row.id) ?? row);
    const top = rows.value[0]?.id ?? 0;
    freshCount.value = newest.rows.filter(({ id }) => id > top).length;
  };

  useLive('messages', () => void isSafe(refresh), JSON.stringify(filter));

  const more = () =>
    isSafe(async () => {
      const page = await call('messages.list', { ...filter, ids: null, beforeId: nextId.value });
      rows.value = [...rows.value, ...page.rows];
      nextId.value = page.nextId;
    });

  return { rows, nextId, freshCount, problem, more };
}

interface TableProps {
  first: Page;
  filter: Filter;
  onFresh: () => void;
}

function Table({ first, filter, onFresh }: TableProps) {
  const { rows, nextId, freshCount, problem, more } = useRows(first, filter);
  const words = texts.messages;
  const isAll = filter.show === 'all' && filter.kind === null;
  const opened = openedId();
  const isEmpty = rows.value.length === 0;
  return (
    <div class="message-found">
      {freshCount.value > 0 && (
        <button type="button" class="fresh" onClick={onFresh}>
          {words.fresh(freshCount.value)}
        </button>
      )}
      {isEmpty && (
        <div class="empty">
          <h2>{isAll ? words.none : nextId.value === null ? words.noMatch : words.noMatchYet}</h2>
          <p>{isAll ? words.noneHint : words.noMatchHint}</p>
        </div>
      )}
      {!isEmpty && (
        <div class="scroller">
          <table class="rows messages">
            <thead>
              <tr>
                {[words.message, words.state, words.reached, words.when].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.value.map((message) => (
                <Row key={message.id} message={message} isOpen={message.id === opened} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="below">
        <p role="status">{isEmpty ? '' : words.shown(rows.value.length)}</p>
        <p class="problem" role="alert" hidden={problem.value === null}>
          {problem.value}
        </p>
        {nextId.value !== null && (
          <button type="button" onClick={more}>
            {isEmpty ? words.further : words.more}
          </button>
        )}
      </div>
    </div>
  );
}

export function MessagesPage({ at }: { at: string }) {
  const filter = filterOf(at);
  const key = JSON.stringify(filter);
  const loaded = useLoaded(
    async (signal) => ({
      key,
      page: await call('messages.list', { ...filter, ids: null, beforeId: null }, signal),
    }),
    key,
  );
  const turns = useSignal(0);
  const found = loaded.value.value;
  const opened = openedId();
  const close = () => {
    go(PATH, { ...kept(), message: null }, 'replace');
    document.getElementById(`message-${opened}`)?.focus();
  };
  return (
    <div class="split">
      <section class="message-list" aria-label={texts.messages.title}>
        <div class="title">
          <h1>{texts.messages.title}</h1>
          {may('messages.cancel') && (
            <button class="main" type="button" onClick={() => go('/console/compose')}>
              <AddIcon />
              {texts.messages.write}
            </button>
          )}
        </div>
        <Filters filter={filter} />
        <Status of={loaded}>
          {found && (
            <Table
              key={`${found.key} ${turns.value}`}
              first={found.page}
              filter={filter}
              onFresh={async () => {
                await loaded.load();
                turns.value += 1;
              }}
            />
          )}
        </Status>
      </section>
      {opened !== null && <MessagePanel key={opened} at={at} id={opened} onClose={close} />}
    </div>
  );
}
