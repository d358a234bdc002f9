/** The palette: pages, records and actions by their names; and the list of keys. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { call } from '../call.ts';
import { PAGES } from '../pages/index.ts';
import { at, go, may, me, path, providers, setLook, signOut, texts } from '../state.ts';
import { AddIcon, CommandsIcon, LinksIcon, MessagesIcon, SearchIcon } from './icons.tsx';
import { shown } from './shown.ts';

interface Entry {
  id: string;
  group: string;
  name: string;
  /** What is beside it in soft letters. */
  more?: string;
  icon: ComponentType;
  run: () => void;
}

const SEARCH_PAUSE_MS = 150;
const SEARCH_LENGTH_MIN = 2;
/** Links that are shown, and slices that are read for them at most. */
const LINK_COUNT = 6;
const SLICE_COUNT = 5;

const THEMES = ['light', 'dark', 'auto'] as const;

/** The entries without records: pages, providers, actions. */
function fixedEntries(): Entry[] {
  const words = texts.palette;
  const seen = PAGES.filter(({ needs }) => (needs === null ? me.value?.isAccount : may(needs)));
  const { lang } = document.documentElement;
  const { theme: now = 'auto' } = document.documentElement.dataset;
  return [
    ...seen.map(({ icon, nameIn, path: to }) => ({
      ...{ id: to, group: words.pages, name: nameIn(texts), icon },
      run: () => go(to),
    })),
    ...(may('links.add')
      ? [
          {
            ...{ id: 'new-link', group: words.actions, name: texts.links.add, icon: AddIcon },
            run: () => go('/console/links', { new: 'link' }),
          },
        ]
      : []),
    ...THEMES.filter((theme) => theme !== now).map((theme) => ({
      ...{ id: `theme-${theme}`, group: words.actions, icon: CommandsIcon },
      name: words.theme(texts.shell[theme]),
      run: () => setLook(theme, lang),
    })),
    {
      ...{ id: 'leave', group: words.actions, name: texts.shell.leave, icon: CommandsIcon },
      run: () => void signOut(),
    },
    ...providers.value
      .filter(({ code }) => code !== at.value)
      .map(({ code, name }) => ({
        ...{ id: `at-${code}`, group: texts.shell.provider, name: name || code, more: code },
        ...{ icon: LinksIcon, run: () => go(path.value, { at: code }) },
      })),
  ];
}

/** A message by its number. */
function messageEntry(search: string): Entry[] {
  const page = PAGES.find(({ path: to }) => to === '/console/messages');
  if (!/^\d{1,15}$/.test(search) || page?.needs == null || !may(page.needs)) return [];
  return [
    {
      ...{ id: 'message', group: texts.palette.records, name: texts.palette.message(search) },
      ...{ icon: MessagesIcon, run: () => go(page.path, { message: search }) },
    },
  ];
}

/** Finds links, slice by slice. */
async function findLinks(search: string, signal: AbortSignal): Promise<Entry[]> {
  const code = at.value;
  if (search.length < SEARCH_LENGTH_MIN || code === null || !may('links.list')) return [];
  const found: Entry[] = [];
  const filter = { search: search.slice(0, 64), status: null, isFull: false };
  let beyondId: number | null = null;
  for (let slice = 0; slice < SLICE_COUNT && found.length < LINK_COUNT; slice++) {
    const countMax = LINK_COUNT - found.length;
    const of: Parameters<typeof call<'links.list'>>[1] = {
      ...{ at: code, filter, isOldest: false, beyondId, countMax },
    };
    const { nextId, rows } = await call('links.list', of, signal);
    for (const link of rows) {
      found.push({
        ...{
          id: `link-${link.id}`,
          group: texts.palette.records,
          name: link.code,
          icon: LinksIcon,
        },
        ...(link.note !== null && { more: link.note }),
        run: () => go('/console/links', { link: String(link.id) }),
      });
    }
    beyondId = nextId;
    if (nextId === null) break;
  }
  return found;
}

const matches = ({ name, more = '', group }: Entry, search: string) => {
  const all = `${group} ${name} ${more}`.toLocaleLowerCase();
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
};

/** A dialog that is open as long as it is drawn; focus goes back by itself. */
function Over({
  label,
  name,
  children,
}: {
  label: string;
  name: string;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const leave = () => {
    shown.value = null;
  };
  useLayoutEffect(() => {
    const open = dialog.current;
    open?.showModal();
    open?.addEventListener('close', leave);
    return () => {
      open?.removeEventListener('close', leave);
      // Closed, and not only removed, it gives the focus back.
      open?.close();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      ref={dialog}
      class={name}
      aria-label={label}
      onClick={(event) => event.target === event.currentTarget && leave()}
    >
      {children}
    </dialog>
  );
}

export function Palette() {
  const search = useSignal('');
  const found = useSignal<readonly Entry[]>([]);
  const isSearching = useSignal(false);
  const chosen = useSignal(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const words = texts.palette;
  const wanted = search.value.trim();

  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      isSearching.value = wanted.length >= SEARCH_LENGTH_MIN;
      // A search that fails leaves pages and actions.
      const links = await findLinks(wanted, leaving.signal).catch(() => []);
      if (leaving.signal.aborted) return;
      found.value = links;
      isSearching.value = false;
    }, SEARCH_PAUSE_MS);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [wanted]);

  const entries = [
    ...fixedEntries().filter((entry) => wanted === '' || matches(entry, wanted)),
    ...found.value,
    // Any number may be that of a message: links that were found come first.
    ...messageEntry(wanted),
  ];
  const at = Math.min(chosen.value, entries.length - 1);

  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    shown.value = null;
    entry.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      chosen.value = (at + step + entries.length) % entries.length;
      list.current
        ?.querySelectorAll('[role=option]')
        [chosen.value]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault();
      run(entries[at]);
    }
  };

  return (
    <Over label={words.name} name="palette">
      <div class="palette-field">
        <SearchIcon />
        <input
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={entries[at] ? `${id}-${at}` : undefined}
          aria-label={words.name}
          placeholder={words.hint}
          autocomplete="off"
          spellcheck={false}
          maxLength={64}
          // biome-ignore lint/a11y/noAutofocus: the dialog is for typing
          autoFocus
          onInput={({ currentTarget }) => {
            search.value = currentTarget.value;
            chosen.value = 0;
          }}
          onKeyDown={press}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="palette-list" role="listbox" id={`${id}-list`} ref={list} aria-label={words.name}>
        {entries.map((entry, n) => (
          <PaletteRow
            key={entry.id}
            entry={entry}
            id={`${id}-${n}`}
            isChosen={n === at}
            isFirst={entry.group !== entries[n - 1]?.group}
            onRun={() => run(entry)}
            onPoint={() => {
              chosen.value = n;
            }}
          />
        ))}
      </div>
      <p class="palette-foot" role="status">
        {isSearching.value && texts.loading}
        {!isSearching.value && entries.length === 0 && words.nothing}
      </p>
    </Over>
  );
}

interface RowProps {
  entry: Entry;
  id: string;
  isChosen: boolean;
  isFirst: boolean;
  onRun: () => void;
  onPoint: () => void;
}

function PaletteRow({ entry, id, isChosen, isFirst, onRun, onPoint }: RowProps) {
  const { group, icon: Icon, more, name } = entry;
  return (
    <>
      {isFirst && (
        <div class="palette-group" role="presentation">
          {group}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the field has the focus */}
      <div role="option" id={id} aria-selected={isChosen} onClick={onRun} onMouseMove={onPoint}>
        <Icon />
        <bdi>{name}</bdi>
        {more !== undefined && <bdi class="more">{more}</bdi>}
      </div>
    </>
  );
}

export function Keys() {
  const words = texts.palette;
  const rows: [keys: string[], what: string][] = [
    [['Ctrl', 'K'], words.keyPalette],
    [['/'], words.keySearch],
    [['↑', '↓'], words.keyMove],
    [['Enter'], words.keyOpen],
    [['Esc'], words.keyClose],
    [['?'], words.keys],
  ];
  return (
    <Over label={words.keys} name="keys">
      <h2>{words.keys}</h2>
      <dl>
        {rows.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog" class="actions">
        <button type="submit">{words.close}</button>
      </form>
    </Over>
  );
}
