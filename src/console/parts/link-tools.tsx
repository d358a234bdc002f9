/**
 * Search, filters and columns of the list of links. The address has all of them but the columns.
 */

import { type Signal, signal } from '@preact/signals';
import { goHere, query, texts } from '../state.ts';
import { Button } from './button.tsx';
import { Dropdown } from './choice.tsx';
import { number } from './format.ts';
import { ColumnsIcon } from './icons.tsx';
import type { LinkList } from './link-list.ts';
import { COLUMNS, type Column, readQuery, type Words, withWord, writeOrder } from './link-query.ts';
import { columnName } from './link-rows.tsx';
import { Search } from './list.tsx';
import { Menu } from './menu.tsx';

const KEPT = 'gatepost-link-columns';
const UNUSED_DAYS = 30;
const ENDS_DAYS = 3;
const TRAFFIC_PERCENT = 90;
const UNREAD_DAYS = 30;
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

/** Returns the columns of a list; that of figures only where figures are shown. */
export const knownColumns = (
  wanted: readonly Column[],
  figures: LinkList['figures'],
): readonly Column[] => wanted.filter((name) => name !== 'ends' || figures.value === 'shown');

/** The text of the filter. */
export const filterText = () => query.value.get('search') ?? '';

function filterBy(text: string): void {
  goHere({ search: text || null });
}

export const SearchField = () => (
  <Search label={texts.links.search} maxLength={128} title={texts.links.words}>
    <span class="key" aria-hidden="true">
      /
    </span>
  </Search>
);

interface ChipProps<N extends keyof Words> {
  label: string;
  name: N;
  value: Words[N];
}

function Chip<N extends keyof Words>({ label, name, value }: ChipProps<N>) {
  const isOn = readQuery(filterText()).words[name] === value;
  return (
    <Button
      label={label}
      aria-pressed={isOn}
      onClick={() => filterBy(withWord(filterText(), name, isOn ? undefined : value))}
    />
  );
}

/** The filters of figures. */
function FigureChips() {
  const words = texts.links;
  const {
    ends = 0,
    traffic = TRAFFIC_PERCENT,
    unread = UNREAD_DAYS,
  } = readQuery(filterText()).words;
  const endsDays = ends || ENDS_DAYS;
  return (
    <>
      <Chip label={words.endsIn(endsDays)} name="ends" value={endsDays} />
      <Chip label={words.ended} name="ends" value={0} />
      <Chip label={words.trafficOver(number(traffic))} name="traffic" value={traffic} />
      <Chip label={words.unreadFor(unread)} name="unread" value={unread} />
    </>
  );
}

/** Says why the list has no figures, where a filter asks for them. */
export function FiguresNotice({ figures }: { figures: LinkList['figures'] }) {
  const words = texts.links;
  const { ends, traffic, unread } = readQuery(filterText()).words;
  const isAsked = [ends, traffic, unread].some((one) => one !== undefined);
  if (!isAsked || figures.value !== 'not_kept') return null;
  return <p class="notice">{words.figuresNotKept}</p>;
}

export function Chips({ figures }: { figures: LinkList['figures'] }) {
  const words = texts.links;
  const { limit, refused, unused } = readQuery(filterText()).words;
  const limits = limit === undefined || LIMITS.includes(limit) ? LIMITS : [...LIMITS, limit];
  const unusedDays = unused ?? UNUSED_DAYS;
  return (
    <fieldset class="filters" aria-label={words.filters}>
      <Chip label={words.full} name="is" value="full" />
      <Chip label={words.copied} name="is" value="copied" />
      <Chip label={words.disabled} name="is" value="disabled" />
      <Chip
        label={refused ? words.refusedFor(refused) : words.refusedToday}
        name="refused"
        value={refused ?? 0}
      />
      <Chip label={words.unusedFor(unusedDays)} name="unused" value={unusedDays} />
      {figures.value === 'shown' && <FigureChips />}
      <select
        aria-label={texts.heads.install_limit}
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
export function ColumnMenu({ list: { figures, order } }: { list: LinkList }) {
  const known = knownColumns(COLUMNS, figures);
  const orders = known.flatMap((by) =>
    [false, true].map((isDown) => {
      const words = `${columnName(by)} ${isDown ? '↓' : '↑'}`;
      return [writeOrder({ by, isDown }) ?? '', words] as const;
    }),
  );
  return (
    <Menu label={texts.links.columns} icon={<ColumnsIcon />}>
      <fieldset class="ticks">
        <legend>{texts.links.columns}</legend>
        {known.map((column) => (
          <label key={column}>
            <input
              type="checkbox"
              checked={columns.value.includes(column)}
              disabled={column === 'code'}
              onChange={({ currentTarget: { checked } }) => choose(column, checked)}
            />
            {columnName(column)}
          </label>
        ))}
      </fieldset>
      <div class="ticks">
        <Dropdown
          label={texts.links.order}
          options={orders}
          value={writeOrder(order) ?? ''}
          onChoice={(value) => goHere({ sort: value || null })}
        />
      </div>
    </Menu>
  );
}
