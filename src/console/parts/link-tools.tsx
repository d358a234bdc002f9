/**
 * Search, filters and columns of the list of links. The address has all of them but the columns.
 */

import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { go, query, texts } from '../state.ts';
import { number } from './format.ts';
import { ColumnsIcon, SearchIcon } from './icons.tsx';
import {
  COLUMNS,
  type Column,
  type Order,
  readQuery,
  type Words,
  withWord,
  writeOrder,
} from './link-query.ts';
import { Menu } from './menu.tsx';

const PAUSE_MS = 200;
const KEPT = 'gatepost-link-columns';
const UNUSED_DAYS = 30;
const LIMITS = [1, 2, 3, 4, 5, 6, 8, 10, 20, 50, 100];

/** The columns that the person chose; the code is always shown. */
export const columns: Signal<readonly Column[]> = signal(COLUMNS);
try {
  const kept = localStorage.getItem(KEPT)?.split(',');
  if (kept) columns.value = COLUMNS.filter((name) => name === 'code' || kept.includes(name));
} catch {
  // The browser stores nothing.
}

function choose(column: Column, isShown: boolean): void {
  columns.value = COLUMNS.filter((name) =>
    name === column ? isShown : columns.value.includes(name),
  );
  try {
    localStorage.setItem(KEPT, columns.value.join());
  } catch {
    // Without storage the choice lasts until the page closes.
  }
}

/** The text of the filter. */
export const filterText = () => query.value.get('search') ?? '';

function filterBy(text: string): void {
  const kept = Object.fromEntries(query.value);
  go('/console/links', { ...kept, search: text || null }, 'replace');
}

export function SearchField() {
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  return (
    <div class="search">
      <SearchIcon />
      <input
        type="search"
        maxLength={128}
        aria-label={texts.links.search}
        placeholder={texts.links.search}
        title={texts.links.words}
        value={filterText()}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(pause.current);
          pause.current = setTimeout(() => filterBy(value), PAUSE_MS);
        }}
      />
      <span class="key" aria-hidden="true">
        /
      </span>
    </div>
  );
}

interface ChipProps<N extends keyof Words> {
  label: string;
  name: N;
  value: Words[N];
}

function Chip<N extends keyof Words>({ label, name, value }: ChipProps<N>) {
  const isOn = readQuery(filterText()).words[name] === value;
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => filterBy(withWord(filterText(), name, isOn ? undefined : value))}
    >
      {label}
    </button>
  );
}

export function Chips() {
  const words = texts.links;
  const { limit, refused, unused } = readQuery(filterText()).words;
  const limits = limit === undefined || LIMITS.includes(limit) ? LIMITS : [...LIMITS, limit];
  const unusedDays = unused ?? UNUSED_DAYS;
  return (
    <fieldset class="filters" aria-label={words.filters}>
      <Chip label={words.full} name="is" value="full" />
      <Chip label={words.disabled} name="is" value="disabled" />
      <Chip
        label={refused ? words.refusedFor(refused) : words.refusedToday}
        name="refused"
        value={refused ?? 0}
      />
      <Chip label={words.unusedFor(unusedDays)} name="unused" value={unusedDays} />
      <select
        aria-label={words.limit}
        data-on={limit !== undefined}
        value={limit ?? ''}
        onChange={({ currentTarget: { value } }) =>
          filterBy(withWord(filterText(), 'limit', value === '' ? undefined : Number(value)))
        }
      >
        <option value="">{words.anyLimit}</option>
        {limits.map((one) => (
          <option key={one} value={one}>
            {words.limitOf(number(one))}
          </option>
        ))}
      </select>
    </fieldset>
  );
}

/** The menu of columns and order: on a phone the table has no header row. */
export function ColumnMenu({ order }: { order: Order }) {
  const kept = Object.fromEntries(query.value);
  const orders = COLUMNS.flatMap((by) => [
    { by, isDown: false },
    { by, isDown: true },
  ]);
  return (
    <Menu label={texts.links.columns} icon={<ColumnsIcon />}>
      <fieldset class="ticks">
        <legend>{texts.links.columns}</legend>
        {COLUMNS.map((column) => (
          <label key={column}>
            <input
              type="checkbox"
              checked={columns.value.includes(column)}
              disabled={column === 'code'}
              onChange={({ currentTarget: { checked } }) => choose(column, checked)}
            />
            {texts.links[column]}
          </label>
        ))}
      </fieldset>
      <div class="ticks">
        <select
          aria-label={texts.links.order}
          value={writeOrder(order) ?? ''}
          onChange={({ currentTarget: { value } }) =>
            go('/console/links', { ...kept, sort: value || null }, 'replace')
          }
        >
          {orders.map((one) => (
            <option key={`${one.by}${one.isDown}`} value={writeOrder(one) ?? ''}>
              {texts.links[one.by]} {one.isDown ? '↓' : '↑'}
            </option>
          ))}
        </select>
      </div>
    </Menu>
  );
}

/** Opens a dialog while a signal is true; the browser returns the focus. */
export function useDialog() {
  const isOpen = useSignal(false);
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen.value]);
  const props = {
    ref: dialog,
    onClose: () => {
      isOpen.value = false;
    },
  };
  return { isOpen, props };
}
