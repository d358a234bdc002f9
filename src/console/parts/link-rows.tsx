/** The table of links. Only rows in view are drawn, so it can scroll through 100,000. */

import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { goHere, nowMs, query, texts } from '../state.ts';
import { traffic } from './bytes.ts';
import { date, nearDate, number, percent } from './format.ts';
import type { Link, LinkList } from './link-list.ts';
import { type Column, type Order, writeOrder } from './link-query.ts';
import { Share } from './share.tsx';

const DISABLED = 5;
/** Rows drawn above and below the view, and the step by which the first one moves. */
const SPARE = 12;
const STEP = 8;
/** The assumed height of a row before one is measured, px. */
const ROW_PX = 44;

const cells: Record<Column, (link: Link) => preact.ComponentChildren> = {
  code: () => null,
  note: ({ note }) => <bdi>{note}</bdi>,
  devices: ({ deviceCount, isCopied, limit }) => (
    <Devices count={deviceCount} limit={limit} isCopied={isCopied} />
  ),
  ends: ({ figures }) => figures !== null && <Subscription of={figures} />,
  status: ({ status }) => (
    <span class={status === DISABLED ? 'badge' : 'badge good'}>
      {status === DISABLED ? texts.links.off : texts.links.active}
    </span>
  ),
  made: ({ createdAtMs }) => date(createdAtMs),
};

export const columnName = (column: Column) =>
  column === 'note' || column === 'status' ? texts.heads[column] : texts.links[column];

/** The traffic from which it is marked. */
const MUCH = 0.9;

/** The end of a subscription, and how much of its traffic was used. */
function Subscription({ of }: { of: NonNullable<Link['figures']> }) {
  const { endsAtMs, totalBytes, usedBytes } = of;
  const isOver = endsAtMs !== null && endsAtMs < nowMs();
  const used = totalBytes === null || usedBytes === null ? null : usedBytes / totalBytes;
  return (
    <>
      {endsAtMs !== null && (
        <bdi class={isOver ? 'badge bad' : ''}>
          {nearDate(endsAtMs)}
          {isOver && <span class="visually-hidden">{texts.links.endedMark}</span>}
        </bdi>
      )}
      {endsAtMs !== null && usedBytes !== null && ' · '}
      {usedBytes !== null && (
        <bdi class={!isOver && used !== null && used >= MUCH ? 'badge warm' : ''}>
          {used === null ? traffic(usedBytes) : percent(used)}
        </bdi>
      )}
    </>
  );
}

interface DevicesProps {
  count: number;
  limit: number;
  /** True: several phones certainly send one HWID. */
  isCopied: boolean;
}

function Devices({ count, limit, isCopied }: DevicesProps) {
  return (
    <span class="share">
      <Share of={count / limit} isHigh={count >= limit} width={60} />
      <bdi>{texts.links.ofLimit(number(count), number(limit))}</bdi>
      {isCopied && <span class="badge bad">{texts.links.copiedMark}</span>}
    </span>
  );
}

/** Opens the panel of a link. Going back closes it. */
export function openLink(id: number): void {
  goHere({ link: `${id}` }, 'push');
}

interface RowProps {
  link: Link;
  index: number;
  columns: readonly Column[];
  isOpen: boolean;
}

function Row({ link, index, columns, isOpen }: RowProps) {
  const search = new URLSearchParams(query.value);
  search.set('link', `${link.id}`);
  const open = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    // Selecting text is not a click.
    if (getSelection()?.isCollapsed === false) return;
    event.preventDefault();
    openLink(link.id);
  };
  return (
    <tr aria-rowindex={index + 2} onClick={open}>
      <th scope="row">
        <a
          href={`?${search}`}
          class="code"
          data-row={index}
          data-id={link.id}
          {...(isOpen && { 'aria-current': true })}
        >
          <bdi>{link.code}</bdi>
        </a>
      </th>
      {columns.slice(1).map((column) => (
        <td key={column} class={`c-${column}`}>
          {cells[column](link)}
        </td>
      ))}
    </tr>
  );
}

function Head({ columns, order }: { columns: readonly Column[]; order: Order }) {
  const sort = (by: Column) => {
    const isDown = by === order.by ? !order.isDown : by === 'devices' || by === 'made';
    goHere({ sort: writeOrder({ by, isDown }) });
  };
  return (
    <thead>
      <tr aria-rowindex={1}>
        {columns.map((column) => {
          const isSorted = order.by === column;
          const way = order.isDown ? 'descending' : 'ascending';
          return (
            <th
              key={column}
              scope="col"
              class={`c-${column}`}
              {...(isSorted && { 'aria-sort': way as 'ascending' })}
            >
              <button type="button" class="plain" onClick={() => sort(column)}>
                {columnName(column)}
                <span class="way" aria-hidden="true">
                  {isSorted && (order.isDown ? '↓' : '↑')}
                </span>
              </button>
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** Moves between rows by the arrow keys; scrolls to a row that is not drawn. */
function onArrow(event: KeyboardEvent): void {
  const from = (event.target as HTMLElement).dataset['row'];
  const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  if (from === undefined || by === 0) return;
  event.preventDefault();
  const next = document.querySelector<HTMLElement>(`[data-row="${Number(from) + by}"]`);
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}

/** Takes the space of rows that are not drawn. */
function Space({ rows, px }: { rows: number; px: number }) {
  if (rows <= 0) return null;
  return (
    <tr class="space">
      <td style={{ blockSize: `${rows * px}px` }} />
    </tr>
  );
}

interface RowsProps {
  list: LinkList;
  columns: readonly Column[];
}

export function Rows({ list, columns }: RowsProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const rowPx = useRef(ROW_PX);
  const first = useSignal(0);
  const inView = useSignal(Math.ceil(innerHeight / ROW_PX));
  const look = () => {
    if (body.current === null) return;
    const above = -body.current.getBoundingClientRect().top / rowPx.current;
    // Moves in steps: drawing the table at each pixel would be too slow.
    first.value = Math.max(0, Math.floor(above / STEP) * STEP - SPARE);
    inView.value = Math.ceil(innerHeight / rowPx.current);
    list.want(Math.ceil(above) + 2 * inView.value);
  };
  useEffect(() => {
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [list]);
  const { rows, length } = list;
  const from = Math.min(first.value, Math.max(0, rows.length - 1));
  const shown =
    list.version.value >= 0 ? rows.slice(from, from + inView.value + 2 * SPARE + STEP) : [];
  useLayoutEffect(() => {
    const px = body.current?.querySelector('tr[aria-rowindex]')?.getBoundingClientRect().height;
    if (px) rowPx.current = px;
    look();
  }, [list, list.version.value, columns.join()]);
  const opened = query.value.get('link');
  return (
    <div class="card-table">
      <table class="rows" aria-rowcount={length + 1} onKeyDown={onArrow}>
        <Head columns={columns} order={list.order} />
        <tbody ref={body}>
          <Space rows={from} px={rowPx.current} />
          {shown.map((link, n) => (
            <Row
              key={link.id}
              link={link}
              index={from + n}
              columns={columns}
              isOpen={opened === `${link.id}`}
            />
          ))}
          <Space rows={length - from - shown.length} px={rowPx.current} />
        </tbody>
      </table>
    </div>
  );
}
