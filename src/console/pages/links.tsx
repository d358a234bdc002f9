/**
 * The page of links: search, filters, order, columns, new links, files, and the panel of a link.
 */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { Button } from '../parts/button.tsx';
import { Nothing, Title } from '../parts/layout.tsx';
import { Actions } from '../parts/link-actions.tsx';
import { LinkList } from '../parts/link-list.ts';
import { NewLinks } from '../parts/link-new.tsx';
import { filterOf, isEvery, readOrder } from '../parts/link-query.ts';
import { openLink, Rows } from '../parts/link-rows.tsx';
import {
  Chips,
  ColumnMenu,
  columns,
  FiguresNotice,
  filterText,
  knownColumns,
  SearchField,
} from '../parts/link-tools.tsx';
import { onLive } from '../parts/live.ts';
import { goHere, may, nowMs, query, texts } from '../state.ts';
import { LinkPanel } from './link-panel.tsx';

/** Shows how many rows are read. The person can stop a search and continue it. */
function Progress({ list, children }: { list: LinkList; children: ComponentChildren }) {
  const words = texts.links;
  const state = list.state.value;
  const count = list.version.value >= 0 ? list.rows.length : 0;
  const all = list.allCount;
  const isFirst = list.version.value === 0;
  const isSearch = !list.isWhole && !isFirst;
  return (
    <div class="below">
      <p role="status">
        {isFirst
          ? ''
          : list.isWhole && all !== null
            ? words.countAll(Math.max(all, state === 'whole' ? count : 0))
            : state === 'whole'
              ? words.countFound(count)
              : words.countSoFar(count)}
      </p>
      {isSearch && state === 'reading' && (
        <>
          <span class="pulse">{words.searching}</span>
          <Button label={texts.common.stop} onClick={() => list.stop()} />
        </>
      )}
      {state === 'stopped' && <Button label={texts.common.goOn} onClick={() => list.goOn()} />}
      <div class="tools-end">{children}</div>
    </div>
  );
}

function Empty({ list }: { list: LinkList }) {
  const isAll = isEvery(list.filter);
  const words = texts.links;
  return (
    <Nothing
      title={isAll ? words.none : words.noMatch}
      hint={isAll ? words.noneHint : words.noMatchHint}
    >
      {!isAll && <p class="hint">{words.words}</p>}
    </Nothing>
  );
}

interface FoundProps {
  list: LinkList;
  reload: () => void;
  children: ComponentChildren;
}

function Found({ list, reload, children }: FoundProps) {
  const isEmpty = list.version.value >= 0 && list.rows.length === 0;
  const state = list.state.value;
  const isFirst = isEmpty && state === 'reading' && list.version.value === 0;
  return (
    <>
      {list.problem.value !== null && (
        <div class="notice" role="alert">
          <p>{list.problem.value}</p>
          <Button label={texts.retry} onClick={() => list.goOn()} />
        </div>
      )}
      {list.fresh.value > 0 && (
        <Button label={texts.links.fresh(list.fresh.value)} class="fresh" onClick={reload} />
      )}
      <Progress list={list}>{children}</Progress>
      {isFirst && (
        <div class="loading" role="status">
          <span class="visually-hidden">{texts.loading}</span>
        </div>
      )}
      {isEmpty && state === 'whole' && <Empty list={list} />}
      {!isEmpty && <Rows list={list} columns={knownColumns(columns.value, list.figures)} />}
    </>
  );
}

export function LinksPage({ at }: { at: string }) {
  const round = useSignal(0);
  const text = filterText();
  const sort = query.value.get('sort');
  const list = useMemo(
    () => new LinkList(at, filterOf(text, nowMs()), readOrder(sort)),
    [at, text, sort, round.value],
  );
  useEffect(() => {
    const forget = onLive('links', (ids) => {
      const shown = [...document.querySelectorAll<HTMLElement>('[data-id]')];
      void list.refresh(ids.length > 0 ? ids : shown.map(({ dataset }) => Number(dataset['id'])));
    });
    return () => {
      forget();
      list.leave();
    };
  }, [list]);
  const reload = () => {
    round.value += 1;
    scrollTo(0, 0);
  };
  const opened = Number(query.value.get('link') ?? 0) || null;
  const close = () => {
    goHere({ link: null });
    document.querySelector<HTMLElement>(`[data-id="${opened}"]`)?.focus();
  };
  const onMade = (id: number | null) => {
    reload();
    if (id !== null) openLink(id);
  };
  return (
    <div class="split">
      <section class="list-of-links" aria-label={texts.shell.links}>
        <Title name={texts.shell.links}>
          {may('links.add') && <NewLinks at={at} onMade={onMade} />}
        </Title>
        <div class="tools">
          <SearchField />
          <Chips figures={list.figures} />
        </div>
        <FiguresNotice figures={list.figures} />
        <Found list={list} reload={reload}>
          <ColumnMenu list={list} />
          <Actions at={at} filter={list.filter} onMade={reload} />
        </Found>
      </section>
      {opened !== null && (
        <LinkPanel
          key={opened}
          at={at}
          id={opened}
          onClose={close}
          onChanged={(id) => list.refresh([id])}
        />
      )}
    </div>
  );
}
