/** The providers: search, a form for a new one, and a panel. */

import type { Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { number } from '../../parts/format.ts';
import { Nothing, Title } from '../../parts/layout.tsx';
import { More, Search, Table, useSlices } from '../../parts/list.tsx';
import { Status } from '../../parts/loaded.tsx';
import { lastDayText, PLAN_NAMES } from '../../parts/provider-form.tsx';
import { NewProvider } from '../../parts/provider-new.tsx';
import { ProviderPanel } from '../../parts/provider-panel.tsx';
import { go, goHere, may, query, texts } from '../../state.ts';

type Row = Got<'providers.list'>['rows'][number];

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
          onClick={() => goHere({ provider: code })}
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
        <Button label={words.act} onClick={() => go('/console', { at: code })} />
      </td>
    </tr>
  );
}

export function ProvidersPage() {
  const words = texts.providers;
  const search = query.value.get('search') ?? '';
  const opened = query.value.get('provider');
  const list = useSlices(
    (afterId, signal) => call('providers.list', { search, afterId }, signal),
    search,
  );
  const close = () => {
    goHere({ provider: null });
    document.getElementById(`provider-${opened}`)?.focus();
  };
  const isNone = list.rows.length === 0 && !list.isMore;
  return (
    <div class="split">
      <section class="message-list" aria-label={words.title}>
        <Title name={words.title}>
          {may('providers.add') && <NewProvider onMade={list.again} />}
        </Title>
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
              heads={[
                texts.common.name,
                texts.common.plan,
                texts.common.state,
                words.until,
                texts.shell.links,
                '',
              ]}
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
