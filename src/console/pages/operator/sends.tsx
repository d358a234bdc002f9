/** Messages of all providers in delivery: the reason of a delay, and the block. */

import type { Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { Choice } from '../../parts/choice.tsx';
import { Ask } from '../../parts/dialog.tsx';
import { number, time } from '../../parts/format.ts';
import { Facts, Nothing, Panel, Title } from '../../parts/layout.tsx';
import { More, Table, useSlices } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { go, goHere, may, query, texts } from '../../state.ts';
import { StateBadge, targetsOf, titleOf } from '../message-words.tsx';

type Row = Got<'sends.list'>['rows'][number];
type Waiting = Got<'sends.show'>['waiting'];

function SendRow({ row, isOpen }: { row: Row; isOpen: boolean }) {
  const words = texts.providers;
  return (
    <tr {...(isOpen && { 'aria-current': true })}>
      <th scope="row">
        <Button
          label={titleOf(row)}
          class="plain"
          id={`send-${row.id}`}
          dir="auto"
          onClick={() => goHere({ send: `${row.id}` })}
        />
      </th>
      <td>
        <bdi class="code">{row.provider}</bdi>
      </td>
      <td>
        <StateBadge state={row.state} />
      </td>
      <td>
        <bdi>{targetsOf(row)}</bdi>
      </td>
      <td class="number">{words.ofCap(number(row.sent), number(row.recipients))}</td>
      <td class="number">{time(row.beganAtMs ?? row.dueAtMs ?? row.createdAtMs)}</td>
    </tr>
  );
}

/** Shows why a message has not ended. */
function Why({ of }: { of: NonNullable<Waiting> }) {
  const words = texts.records.waiting;
  if (of.why === 'scheduled') return <p>{words.scheduled(time(of.untilMs))}</p>;
  if (of.why === 'behind') return <p>{words.behind(`${of.id}`)}</p>;
  if (of.why !== 'gateways') return <p>{words[of.why]}</p>;
  return (
    <>
      <p>{of.failing.length === 0 ? words.gateways : words.gatewaysFail}</p>
      <ul class="list">
        {of.failing.map(({ isStopped, kind, origin, problem }) => (
          <li key={`${kind} ${origin}`}>
            <span class={isStopped ? 'badge bad' : 'badge warm'}>{kind}</span>
            <bdi>
              {origin} {problem}
            </bdi>
          </li>
        ))}
      </ul>
    </>
  );
}

interface PanelProps {
  id: number;
  onClose: () => void;
  onChange: () => Promise<void>;
}

function SendPanel({ id, onClose, onChange }: PanelProps) {
  const loaded = useLoaded((signal) => call('sends.show', { id }, signal), `${id}`);
  const shown = loaded.value.value;
  const words = texts.records;
  return (
    <Panel
      title={<span dir="auto">{shown ? titleOf(shown) : texts.common.numbered(`${id}`)}</span>}
      onClose={onClose}
    >
      <Status of={loaded}>
        {shown && (
          <>
            <Facts
              of={[
                [texts.common.state, <StateBadge state={shown.state} />],
                [texts.shell.provider, <bdi class="code">{shown.provider}</bdi>],
                [texts.messages.kind, texts.messages.kinds[shown.kind]],
                [words.made, time(shown.createdAtMs)],
                [words.sent, number(shown.sent)],
                [words.failed, number(shown.failed)],
              ]}
            />
            <section>
              <h3>{words.why}</h3>
              {shown.waiting === null ? <p>{words.waiting.ended}</p> : <Why of={shown.waiting} />}
            </section>
            <div class="actions">
              <Button
                label={words.atProvider(shown.provider)}
                onClick={() => go('/console/messages', { at: shown.provider, message: `${id}` })}
              />
              {may('sends.block') && shown.waiting !== null && (
                <Ask
                  label={words.block}
                  title={words.blockSure}
                  onYes={async () => {
                    await call('sends.block', { id });
                    await Promise.all([loaded.load(), onChange()]);
                  }}
                >
                  <p>{words.blockHint}</p>
                </Ask>
              )}
            </div>
          </>
        )}
      </Status>
    </Panel>
  );
}

export function SendsPage() {
  const words = texts.records;
  const show = query.value.get('show') === 'all' ? 'all' : 'unfinished';
  const opened = Number(query.value.get('send')) || null;
  const isUnfinished = show === 'unfinished';
  const list = useSlices(
    (beforeId, signal) => call('sends.list', { isUnfinished, beforeId }, signal),
    show,
  );
  const close = () => {
    goHere({ send: null });
    document.getElementById(`send-${opened}`)?.focus();
  };
  return (
    <div class="split">
      <section class="message-list" aria-label={texts.messages.title}>
        <Title name={texts.messages.title} />
        <div class="tools">
          <Choice
            label={texts.messages.filter}
            names={words.shows}
            value={show}
            onChoice={(one) => goHere({ show: one })}
          />
        </div>
        <Status of={list.loaded}>
          {list.rows.length === 0 ? (
            <Nothing title={words.noSend} hint={words.noSendHint} />
          ) : (
            <Table
              heads={[
                ...[texts.messages.message, texts.shell.provider, texts.common.state],
                ...[words.target, texts.messages.processed, texts.messages.when],
              ]}
            >
              {list.rows.map((row) => (
                <SendRow key={row.id} row={row} isOpen={row.id === opened} />
              ))}
            </Table>
          )}
          <More of={list} />
        </Status>
      </section>
      {opened !== null && (
        <SendPanel key={opened} id={opened} onClose={close} onChange={list.again} />
      )}
    </div>
  );
}
