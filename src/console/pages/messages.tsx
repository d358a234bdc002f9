/** The list of messages and commands, with the panel of one beside it. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Choice, Dropdown } from '../parts/choice.tsx';
import { number } from '../parts/format.ts';
import { AddIcon } from '../parts/icons.tsx';
import { Nothing, Title } from '../parts/layout.tsx';
import { useLive } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { SendTime } from '../parts/send-time.tsx';
import { Share } from '../parts/share.tsx';
import { Problem } from '../parts/work.tsx';
import { go, goHere, may, query, texts, wordsFor } from '../state.ts';
import { MessagePanel } from './message-panel.tsx';
import { StateBadge, targetsOf, titleOf } from './message-words.tsx';

type Page = Got<'messages.list'>;
type Message = Page['rows'][number];
type Filter = Pick<Given<'messages.list'>, 'at' | 'show' | 'kind'>;

/** The most rows that are reloaded after a change. */
const ANEW_MAX = 100;

function filterOf(at: string): Filter {
  const [show = null, kind] = ['show', 'kind'].map((name) => query.value.get(name));
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
    goHere({ [name]: value === 'all' ? null : value });
  return (
    <div class="tools">
      <Choice
        label={words.filter}
        names={words.shows}
        value={filter.show}
        onChoice={choose('show')}
      />
      <Dropdown
        label={words.kind}
        options={Object.entries(words.kinds)}
        value={filter.kind ?? 'all'}
        onChoice={choose('kind')}
      />
    </div>
  );
}

/** How many devices the delivery has come to: it says nothing of who can get the message. */
function Processed({ message: { recipients, sent } }: { message: Message }) {
  if (recipients === 0) return <span class="number">–</span>;
  return (
    <span class="share">
      <Share of={sent / recipients} width={60} />
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
          onClick={() => goHere({ message: `${id}` }, 'push')}
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
        <Processed message={message} />
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
    const [newest, reread] = await Promise.all([
      call('messages.list', { ...filter, ids: null, beforeId: null }),
      ids.length === 0 ? null : call('messages.list', { ...all, ids }),
    ]);
    const now = new Map((reread?.rows ?? []).map((row) => [row.id, row]));
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
        <Button label={words.fresh(freshCount.value)} class="fresh" onClick={onFresh} />
      )}
      {isEmpty && (
        <Nothing
          title={isAll ? words.none : nextId.value === null ? words.noMatch : words.noMatchYet}
          hint={isAll ? words.noneHint : words.noMatchHint}
        />
      )}
      {!isEmpty && (
        <div class="scroller">
          <table class="rows messages">
            <thead>
              <tr>
                {[words.message, texts.common.state, words.processed, words.when].map((name) => (
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
        <Problem of={problem} />
        {nextId.value !== null && (
          <Button label={isEmpty ? texts.common.further : texts.common.more} onClick={more} />
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
    goHere({ message: null });
    document.getElementById(`message-${opened}`)?.focus();
  };
  return (
    <div class="split">
      <section class="message-list" aria-label={texts.messages.title}>
        <Title name={texts.messages.title}>
          {may('messages.cancel') && (
            <button class="main" type="button" onClick={() => go('/console/compose')}>
              <AddIcon />
              {texts.messages.write}
            </button>
          )}
        </Title>
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
