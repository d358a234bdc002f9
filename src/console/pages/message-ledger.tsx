/** The ledger of a message: its devices, by state, in pages. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Choice } from '../parts/choice.tsx';
import { time } from '../parts/format.ts';
import { Problem } from '../parts/work.tsx';
import { texts, wordsFor } from '../state.ts';

type Show = Given<'messages.ledger'>['show'];
type Page = Got<'messages.ledger'>;
type Receipt = Page['rows'][number];

/** Returns the latest state of a device and its time. What no app reads is in no inbox. */
function stateOf(row: Receipt) {
  const { executedAtMs, openedAtMs, receivedAtMs, refusedAtMs } = row;
  if (refusedAtMs !== null) return { state: 'refused', atMs: refusedAtMs } as const;
  if (executedAtMs !== null) return { state: 'executed', atMs: executedAtMs } as const;
  if (openedAtMs !== null) return { state: 'opened', atMs: openedAtMs } as const;
  if (receivedAtMs !== null) return { state: 'received', atMs: receivedAtMs } as const;
  const atMs = { queued: null, sent: row.sentAtMs, failed: row.failedAtMs };
  const { state } = row;
  if (state === 'sent' && !row.isReachable) return { state: 'unread', atMs: null } as const;
  return { state, atMs: state === 'expired' ? row.expiredAtMs : atMs[state] };
}

const LOOKS: Readonly<Record<string, string>> = {
  received: 'badge good',
  opened: 'badge good',
  executed: 'badge good',
  failed: 'badge bad',
  refused: 'badge bad',
  expired: 'badge warm',
};

function Device({ row }: { row: Receipt }) {
  const words = texts.messages;
  const { state, atMs } = stateOf(row);
  const why = row.detail ?? row.pushProblem;
  const more = [
    row.push === null ? null : words.pushStates[row.push],
    row.carried === null ? null : words.carriedAt(row.carried),
    row.isReachable || row.carried !== null ? null : words.silent,
  ].filter((text) => text !== null);
  return (
    <li class="receipt">
      <span class="receipt-name">
        {row.deviceName !== '' && <bdi>{row.deviceName}</bdi>}
        <bdi class="code">{row.hwid}</bdi>
      </span>
      <span class="receipt-state">
        <span class={LOOKS[state] ?? 'badge'}>{words.rowStates[state]}</span>
        {atMs !== null && <small>{time(atMs)}</small>}
      </span>
      {more.length > 0 && (
        <small>
          <bdi>{more.join(' · ')}</bdi>
        </small>
      )}
      {why !== null && (
        <small class="why">
          <bdi>{why}</bdi>
        </small>
      )}
    </li>
  );
}

interface LedgerProps {
  at: string;
  id: number;
  kind: 'push' | 'command';
  turn: number;
}

export function Ledger({ at, id, kind, turn }: LedgerProps) {
  const words = texts.messages;
  const show = useSignal<Show>('all');
  const page = useSignal<Page | null>(null);
  const isLong = useSignal(false);
  const problem = useSignal<string | null>(null);

  const load = async (afterId: number | null, signal?: AbortSignal) => {
    try {
      const next = await call('messages.ledger', { at, id, show: show.value, afterId }, signal);
      const before = afterId === null ? [] : (page.value?.rows ?? []);
      page.value = { rows: [...before, ...next.rows], nextId: next.nextId };
      isLong.value = afterId !== null;
      problem.value = null;
    } catch (fault) {
      if (!signal?.aborted) problem.value = wordsFor(fault);
    }
  };

  // Does not reload a list with further pages: the reader would lose the place.
  useEffect(() => {
    if (isLong.value && turn > 0) return;
    const leaving = new AbortController();
    void load(null, leaving.signal);
    return () => leaving.abort();
  }, [id, show.value, turn]);

  const { expired, failed, opened, received, waiting, all } = words.ledgerShows;
  const done = kind === 'push' ? opened : words.steps.executed;
  const { nextId = null, rows = [] } = page.value ?? {};
  return (
    <section class="ledger">
      <h3>{words.ledger}</h3>
      <Choice<Show>
        label={words.ledger}
        names={{ all, waiting, received, opened: done, failed, expired }}
        value={show.value}
        onChoice={(value) => {
          isLong.value = false;
          show.value = value;
        }}
      />
      {page.value && rows.length === 0 && (
        <p class="hint">{nextId === null ? words.noDevices : words.noDevicesYet}</p>
      )}
      <ul class="receipts">
        {rows.map((row) => (
          <Device key={row.id} row={row} />
        ))}
      </ul>
      <Problem of={problem} />
      {nextId !== null && (
        <Button
          label={rows.length === 0 ? texts.common.further : texts.common.more}
          onClick={() => load(nextId)}
        />
      )}
    </section>
  );
}
