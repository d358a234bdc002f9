/** The states of a message's devices as bars, drawn by hand and counted slice by slice. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { kept, number } from '../parts/format.ts';
import { Ways } from '../parts/ways.tsx';
import { Problem } from '../parts/work.tsx';
import { texts, wordsFor } from '../state.ts';

type Shown = Got<'messages.show'>;
type Totals = Got<'messages.count'>['totals'];

/** The most slices that are counted: 400,000 devices. */
const SLICES_MAX = 50;
/** A ledger up to this length is counted again after each change, a longer one on request. */
const ANEW_MAX = 40_000;

interface Counted {
  totals: Totals;
  /** Devices in whose inbox it is, where an app reads that. */
  inboxCount: number;
  /** Devices that were counted so far. */
  count: number;
  isDone: boolean;
  isAtLeast: boolean;
}

function sum(a: Totals, b: Totals): Totals {
  const all: Record<string, unknown> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = all[name];
    all[name] =
      typeof value === 'number' ? Number(before) + value : sum(before as Totals, value as never);
  }
  return all as unknown as Totals;
}

const devicesIn = ({ expired, failed, queued, sent }: Totals) => queued + sent + failed + expired;

/** Counts the ledger of a message; gives each state of the count to `onPart`. */
async function count(
  of: { at: string; id: number },
  signal: AbortSignal,
  onPart: (part: Counted) => void,
): Promise<void> {
  let totals: Totals | null = null;
  let inboxCount = 0;
  let afterId: number | null = null;
  for (let slices = 1; ; slices++) {
    const slice: Got<'messages.count'> = await call('messages.count', { ...of, afterId }, signal);
    totals = totals === null ? slice.totals : sum(totals, slice.totals);
    inboxCount += slice.inboxCount;
    afterId = slice.nextId;
    const isDone = afterId === null || slices === SLICES_MAX;
    if (signal.aborted) return;
    const isAtLeast = isDone && afterId !== null;
    onPart({ totals, inboxCount, count: devicesIn(totals), isDone, isAtLeast });
    if (isDone) return;
  }
}

interface BarProps {
  name: string;
  value: number;
  most: number;
  text: string;
  look: 'good' | 'bad' | 'soft';
}

const percents = kept((tag) => new Intl.NumberFormat(tag, { style: 'percent' }));

function Bar({ look, most, name, text, value }: BarProps) {
  const share = most === 0 ? 0 : Math.min(1, value / most);
  const percent = percents().format(share);
  return (
    <div class="funnel-row">
      <dt>{name}</dt>
      <dd>
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect class="share-all" width="100" height="8" rx="2" />
          <rect
            class={`funnel-${look}`}
            width={value === 0 ? 0 : Math.max(1, 100 * share)}
            height="8"
            rx="2"
          />
        </svg>
        <span class="funnel-count">{text}</span>
        <span class="number">{value > 0 && most > 0 ? percent : ''}</span>
      </dd>
    </div>
  );
}

function More({ counted: { count: so, isDone, totals } }: { counted: Counted }) {
  const words = texts.messages;
  const { accepted, failed } = totals.atGateway;
  return (
    <>
      {!isDone && <p class="hint">{words.counting(number(so))}</p>}
      {totals.carried > 0 && <p class="hint">{words.carried(number(totals.carried))}</p>}
      {accepted + failed > 0 && (
        <p class="hint">{words.pushes(number(accepted), number(failed))}</p>
      )}
    </>
  );
}

export function Funnel({ at, shown, turn }: { at: string; shown: Shown; turn: number }) {
  const { failed, id, kind, reach, recipients, sent } = shown;
  const words = texts.messages;
  const counted = useSignal<Counted | null>(null);
  const problem = useSignal<string | null>(null);
  const asked = useSignal(0);
  const isSmall = recipients <= ANEW_MAX;
  useEffect(() => {
    const leaving = new AbortController();
    const isFirst = counted.value === null;
    count({ at, id }, leaving.signal, (part) => {
      // Keeps the old bars until a recount is complete: bars must not shrink meanwhile.
      if (isFirst || part.isDone) counted.value = part;
    }).catch((fault) => {
      if (!leaving.signal.aborted) problem.value = wordsFor(fault);
    });
    return () => leaving.abort();
  }, [id, asked.value, isSmall && turn]);

  const totals = counted.value?.totals;
  const countText = (value: number) =>
    counted.value?.isAtLeast ? words.atLeast(number(value)) : number(value);
  const acts = kind === 'push' ? (['opened'] as const) : (['executed', 'refused'] as const);
  const most = Math.max(recipients, sent + failed);
  const bar = (name: keyof typeof words.steps, value: number, look: BarProps['look']) => (
    <Bar
      key={name}
      value={value}
      most={most}
      look={look}
      name={words.steps[name]}
      text={countText(value)}
    />
  );
  return (
    <>
      <dl class="funnel">
        <Bar name={words.steps.queued} value={most} most={most} text={number(most)} look="soft" />
        {counted.value && bar('sent', counted.value.inboxCount, 'good')}
        {totals && bar('received', totals.received, 'good')}
        {totals && acts.map((name) => bar(name, totals[name], name === 'refused' ? 'bad' : 'good'))}
        <Bar
          name={words.steps.failed}
          value={failed}
          most={most}
          text={number(failed)}
          look="bad"
        />
        {totals && bar('expired', totals.expired, 'bad')}
      </dl>
      {counted.value && <More counted={counted.value} />}
      <Problem of={problem} />
      {!isSmall && counted.value?.isDone && (
        <Button label={words.again} onClick={() => (asked.value += 1)} />
      )}
      {reach && (
        <>
          <h4>{words.ways}</h4>
          <Ways of={reach} />
        </>
      )}
    </>
  );
}
