/** The palette: pages, records and actions by name; and the list of keys. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { pagesHere } from '../pages/here.ts';
import { at, go, may, path, providers, setLook, signOut, texts } from '../state.ts';
import { AddIcon, CommandsIcon, LinksIcon, SearchIcon } from './icons.tsx';
import { type Entry, findRecords, messageEntry, SEARCH_LENGTH_MIN } from './palette-find.ts';
import { shown } from './shown.ts';

const SEARCH_PAUSE_MS = 150;

const THEMES = ['light', 'dark', 'auto'] as const;

/** Returns the entries that need no search: pages, providers, actions. */
function fixedEntries(): Entry[] {
  const words = texts.palette;
  const seen = pagesHere();
  const { lang } = document.documentElement;
  const { theme: now = 'auto' } = document.documentElement.dataset;
  return [
    ...seen.map(({ icon, nameIn, path: to }) => ({
      id: to,
      group: words.pages,
      name: nameIn(texts),
      icon,
      run: () => go(to),
    })),
    ...(at.value !== null && may('links.add')
      ? [
          {
            id: 'new-link',
            group: texts.common.actions,
            name: texts.links.add,
            icon: AddIcon,
            run: () => go('/console/links', { new: 'link' }),
          },
        ]
      : []),
    ...THEMES.filter((theme) => theme !== now).map((theme) => ({
      id: `theme-${theme}`,
      group: texts.common.actions,
      icon: CommandsIcon,
      name: words.theme(texts.shell[theme]),
      run: () => setLook(theme, lang),
    })),
    {
      id: 'leave',
      group: texts.common.actions,
      name: texts.shell.leave,
      icon: CommandsIcon,
      run: () => void signOut(),
    },
    ...providers.value
      .filter(({ code }) => code !== at.value)
      .map(({ code, name }) => ({
        id: `at-${code}`,
        group: texts.shell.provider,
        name: name || code,
        more: code,
        icon: LinksIcon,
        run: () => go(path.value, { at: code }),
      })),
  ];
}

const matches = ({ name, more = '', group }: Entry, search: string) => {
  const all = `${group} ${name} ${more}`.toLocaleLowerCase();
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
};

/** A dialog that is open while it is drawn; the browser returns the focus. */
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
      // The browser returns the focus only if the dialog closes before its removal.
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
      // A failed search leaves pages and actions.
      const { signal } = leaving;
      const records = await findRecords(wanted, signal);
      if (signal.aborted) return;
      found.value = records;
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
    // Any number may be that of a message, so found links come first.
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
            onPoint={() => (chosen.value = n)}
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
    [['Ctrl', 'Z'], words.keyUndo],
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
        <button type="submit">{texts.common.close}</button>
      </form>
    </Over>
  );
}
