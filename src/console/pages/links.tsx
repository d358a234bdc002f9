/** The list of links: search, filters, pages by the id of the last row, and a new link. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Got } from '../../http/console/table.ts';
import { call } from '../call.ts';
import { Field, Form } from '../parts/form.tsx';
import { date, number } from '../parts/format.ts';
import { AddIcon, SearchIcon } from '../parts/icons.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { go, may, query, texts, wordsFor } from '../state.ts';

type Link = Got<'links.list'>['rows'][number];

const DISABLED = 5;
const SEARCH_PAUSE_MS = 200;
const FILTERS = ['all', 'full', 'disabled'] as const;

/** Reads the filter from the address. */
function filterOf(at: string) {
  const show = query.value.get('show');
  const filter = {
    search: query.value.get('search')?.slice(0, 64) || null,
    isFull: show === 'full',
    status: show === 'disabled' ? (DISABLED as 5) : null,
  };
  return { at, filter, isOldest: false, countMax: 50 };
}

function SearchField() {
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = /^(?:INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);
  return (
    <div class="search">
      <SearchIcon />
      <input
        ref={field}
        type="search"
        maxLength={64}
        aria-label={texts.links.search}
        placeholder={texts.links.search}
        value={query.value.get('search') ?? ''}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(pause.current);
          const search = () =>
            go('/console/links', { ...kept(), search: value || null }, 'replace');
          pause.current = setTimeout(search, SEARCH_PAUSE_MS);
        }}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </div>
  );
}

/** The parameters of the address that this page knows. */
const kept = () => ({ search: query.value.get('search'), show: query.value.get('show') });

function Chips() {
  const shown = query.value.get('show') ?? 'all';
  return (
    <fieldset class="chips" aria-label={texts.links.status}>
      {FILTERS.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={shown === name}
          onClick={() =>
            go('/console/links', { ...kept(), show: name === 'all' ? null : name }, 'replace')
          }
        >
          {texts.links[name]}
        </button>
      ))}
    </fieldset>
  );
}

function Row({ link }: { link: Link }) {
  const share = Math.min(1, link.deviceCount / link.limit);
  const isOff = link.status === DISABLED;
  return (
    <tr>
      <th scope="row">
        <bdi class="code">{link.code}</bdi>
      </th>
      <td class="note">
        <bdi>{link.note}</bdi>
      </td>
      <td>
        <span class="share">
          <svg viewBox="0 0 60 6" preserveAspectRatio="none" aria-hidden="true">
            <rect class="share-all" width="60" height="6" rx="3" />
            <rect
              class={share === 1 ? 'share-full' : 'share-part'}
              width={60 * share}
              height="6"
              rx="3"
            />
          </svg>
          <bdi>{texts.links.ofLimit(number(link.deviceCount), number(link.limit))}</bdi>
        </span>
      </td>
      <td>
        <span class={isOff ? 'badge' : 'badge good'}>
          {isOff ? texts.links.off : texts.links.active}
        </span>
      </td>
      <td class="number">{date(link.createdAtMs)}</td>
    </tr>
  );
}

interface NewLinkProps {
  at: string;
  onMade: (code: string) => void;
}

function NewLink({ at, onMade }: NewLinkProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button class="main" type="button" onClick={() => dialog.current?.showModal()}>
        <AddIcon />
        {texts.links.add}
      </button>
      <dialog ref={dialog} aria-label={texts.links.add}>
        <h2>{texts.links.add}</h2>
        <Form
          submit={texts.links.create}
          beside={
            <button type="button" onClick={() => dialog.current?.close()}>
              {texts.links.cancel}
            </button>
          }
          onSubmit={async ({ limit, note = '' }) => {
            const made = await call('links.add', { at, limit: Number(limit), note });
            dialog.current?.close();
            onMade(made.code);
          }}
        >
          <Field
            label={texts.links.limit}
            hint={texts.links.limitHint}
            name="limit"
            type="number"
            min={1}
            max={100}
            defaultValue="3"
            required
          />
          <Field label={texts.links.note} hint={texts.links.noteHint} name="note" maxLength={255} />
        </Form>
      </dialog>
    </>
  );
}

/** The rows, and further ones on demand. */
function Table({
  first,
  filter,
}: {
  first: Got<'links.list'>;
  filter: ReturnType<typeof filterOf>;
}) {
  const rows = useSignal(first.rows);
  const nextId = useSignal(first.nextId);
  const problem = useSignal<string | null>(null);
  const words = texts.links;
  const more = async () => {
    try {
      const page = await call('links.list', { ...filter, beyondId: nextId.value });
      rows.value = [...rows.value, ...page.rows];
      nextId.value = page.nextId;
    } catch (fault) {
      problem.value = wordsFor(fault);
    }
  };
  if (rows.value.length === 0) {
    const { isFull, search, status } = filter.filter;
    const isAll = search === null && !isFull && status === null;
    return (
      <div class="empty">
        <h2>{isAll ? words.none : words.noMatch}</h2>
        <p>{isAll ? words.noneHint : words.noMatchHint}</p>
      </div>
    );
  }
  return (
    <>
      <div class="scroller">
        <table class="rows">
          <thead>
            <tr>
              {[words.code, words.note, words.devices, words.status, words.made].map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.value.map((link) => (
              <Row key={link.id} link={link} />
            ))}
          </tbody>
        </table>
      </div>
      <div class="below">
        <p role="status">{words.count(rows.value.length)}</p>
        <p class="problem" role="alert" hidden={problem.value === null}>
          {problem.value}
        </p>
        {nextId.value !== null && (
          <button type="button" onClick={more}>
            {words.more}
          </button>
        )}
      </div>
    </>
  );
}

export function LinksPage({ at }: { at: string }) {
  const made = useSignal<string | null>(null);
  const filter = filterOf(at);
  const key = JSON.stringify(filter);
  const loaded = useLoaded(
    async (signal) => ({
      key,
      page: await call('links.list', { ...filter, beyondId: null }, signal),
    }),
    `${key} ${made.value}`,
  );
  const found = loaded.value.value;
  return (
    <>
      <div class="title">
        <h1>{texts.shell.links}</h1>
        {may('links.add') && (
          <NewLink
            at={at}
            onMade={(code) => {
              made.value = code;
            }}
          />
        )}
      </div>
      <p class="notice good" role="status" hidden={made.value === null}>
        {made.value !== null && texts.links.isReady(made.value)}
      </p>
      <div class="tools">
        <SearchField />
        <Chips />
      </div>
      <Status of={loaded}>
        {found && <Table key={`${found.key} ${made.value}`} first={found.page} filter={filter} />}
      </Status>
    </>
  );
}
