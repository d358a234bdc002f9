/** The providers: search, a form for a new one, and a panel. */

import type { Got } from '../../../http/console/table.ts';
import { call } from '../../call.ts';
import { number } from '../../parts/format.ts';
import { Status } from '../../parts/loaded.tsx';
import { kept, More, Nothing, Search, Table, useSlices } from '../../parts/operator.tsx';
import { lastDayText, PLAN_NAMES } from '../../parts/provider-form.tsx';
import { NewProvider } from '../../parts/provider-new.tsx';
import { ProviderPanel } from '../../parts/provider-panel.tsx';
import { go, may, query, texts } from '../../state.ts';

type Row = Got<'providers.list'>['rows'][number];

const PATH = '/console/providers';

export function State({ of }: { of: Pick<Row, 'isActive' | 'suspendedAtMs'> }) {
  const words = texts.providers.states;
  if (of.suspendedAtMs !== null) return <span class="badge bad">{words.suspended}</span>;
  if (!of.isActive) return <span class="badge bad">{words.ended}</span>;
  return <span class="badge good">{words.active}</span>;
}

function ProviderRow({ row, isOpen }: { row: Row; isOpen: boolean }) {
  const words = texts.providers;
  const { code, lastDay, linkCount, linkCountMax, name, plan } = row;
  return (
    <tr {...(isOpen && { 'aria-current': true })}>
      <th scope="row">
        <button
          type="button"
          class="plain"
          id={`provider-${code}`}
          onClick={() => go(PATH, { ...kept(), provider: code }, 'replace')}
        >
          <bdi>{name || code}</bdi>
        </button>{' '}
        <bdi class="code hint">{code}</bdi>
      </th>
      <td>{PLAN_NAMES[plan]}</td>
      <td>
        <State of={row} />
      </td>
      <td class="number">{lastDayText(lastDay)}</td>
      <td class="number">
        {linkCountMax === null
          ? number(linkCount)
          : words.ofCap(number(linkCount), number(linkCountMax))}
      </td>
      <td class="row-actions">
        <button type="button" onClick={() => go('/console', { at: code })}>
          {words.act}
        </button>
      </td>
    </tr>
  );
}

export function ProvidersPage() {
  const words = texts.providers;
  const search = query.value.get('search') ?? '';
  const opened = query.value.get('provider');
  const list = useSlices<Row, number>(async (afterId, signal) => {
    const { nextId, rows } = await call('providers.list', { search, afterId }, signal);
    return { rows, next: nextId };
  }, search);
  const close = () => {
    go(PATH, { ...kept(), provider: null }, 'replace');
    document.getElementById(`provider-${opened}`)?.focus();
  };
  const isNone = list.rows.length === 0 && !list.isMore;
  return (
    <div class="split">
      <section class="message-list" aria-label={words.title}>
        <div class="title">
          <h1>{words.title}</h1>
          {may('providers.add') && <NewProvider onMade={list.again} />}
        </div>
        <div class="tools">
          <Search label={words.search} />
        </div>
        <Status of={list.loaded}>
          {isNone ? (
            <Nothing
              title={search === '' ? words.none : words.noMatch}
              hint={search === '' ? words.noneHint : words.noMatchHint}
            />
          ) : (
            <Table
              heads={[words.name, words.plan, words.state, words.until, texts.shell.links, '']}
            >
              {list.rows.map((row) => (
                <ProviderRow key={row.code} row={row} isOpen={row.code === opened} />
              ))}
            </Table>
          )}
          <More of={list} />
        </Status>
      </section>
      {opened !== null && (
        <ProviderPanel key={opened} code={opened} onClose={close} onChange={list.again} />
      )}
    </div>
  );
}
