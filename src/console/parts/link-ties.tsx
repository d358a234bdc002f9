/** Keys of subscriptions that wait for a link, and those that were tied: agree, or undo. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { may, texts } from '../state.ts';
import { Button } from './button.tsx';
import { Ask } from './dialog.tsx';
import { number, time } from './format.ts';
import { Table } from './list.tsx';
import { Status, useLoaded } from './loaded.tsx';
import { Problem, useWork } from './work.tsx';

type Tie = Got<'ties.list'>['ties'][number];
type Settled = Got<'ties.make'>;

/** The most ties that one call makes. */
const TIES_MAX = 100;

const sumOf = (ties: readonly Tie[], of: 'movingCount' | 'leftCount') =>
  ties.reduce((sum, tie) => sum + tie[of], 0);

export function Ties({ at }: { at: string }) {
  const words = texts.links;
  const said = useSignal<string | null>(null);
  const { isBusy, problem, run } = useWork();
  const loaded = useLoaded(async (signal) => {
    const of = async (state: 'waits' | 'tied') => call('ties.list', { at, state }, signal);
    const [waiting, tied] = await Promise.all([of('waits'), of('tied')]);
    return { isOn: waiting.isOn, waiting: waiting.ties, tied: tied.ties };
  }, at);

  /** Runs a call, and says how many ties it left as they were. */
  async function settle(work: () => Promise<Settled | unknown>): Promise<void> {
    await run(async () => {
      const got = await work();
      const failed = Array.isArray(got) ? got.filter((one) => 'why' in one).length : 0;
      said.value = failed === 0 ? null : words.tiesFailed(failed);
    });
    await loaded.load();
  }

  const { isOn = true, tied = [], waiting = [] } = loaded.value.value ?? {};
  const first = waiting.slice(0, TIES_MAX).map(({ id }) => id);
  const isOwner = may('ties.make');
  return (
    <Status of={loaded}>
      <p class="hint">{words.tiesHint}</p>
      <p role="status">{said.value ?? (isOn ? words.tiesOn : words.tiesOff)}</p>
      <Problem of={problem} />
      <h3>{words.tiesWait}</h3>
      <Rows
        ties={waiting}
        label={words.agree}
        isBusy={isBusy.value || !isOwner}
        onChoice={(id) => settle(() => call('ties.make', { at, ids: [id] }))}
      />
      {isOwner && (
        <div class="actions">
          {first.length > 0 && (
            <Ask
              label={words.agreeAll(first.length)}
              title={words.agreeAll(first.length)}
              onYes={() => settle(() => call('ties.make', { at, ids: first }))}
            >
              <p>{words.tiesChange(sumOf(waiting, 'movingCount'), sumOf(waiting, 'leftCount'))}</p>
            </Ask>
          )}
          <Ask
            label={isOn ? words.switchOff : words.switchOn}
            title={isOn ? words.switchOff : words.switchOn}
            onYes={() => settle(() => call('ties.switch', { at, isOn: !isOn }))}
          >
            <p>{words.tiesChange(sumOf(waiting, 'movingCount'), sumOf(waiting, 'leftCount'))}</p>
          </Ask>
        </div>
      )}
      <h3>{words.tiesMade}</h3>
      <Rows
        ties={tied}
        label={words.untie}
        isBusy={isBusy.value || !isOwner}
        onChoice={(id) => settle(() => call('ties.undo', { at, ids: [id] }))}
      />
    </Status>
  );
}

interface RowsProps {
  ties: readonly Tie[];
  label: string;
  isBusy: boolean;
  onChoice: (id: number) => void;
}

function Rows({ ties, label, isBusy, onChoice }: RowsProps) {
  const words = texts.links;
  if (ties.length === 0) return <p class="hint">{words.noTies}</p>;
  return (
    <Table heads={[words.tieLink, words.tieMoves, words.tieLeaves, words.tieAt, '']}>
      {ties.map(({ id, atMs, installId, leftCount, movingCount, note }) => (
        <tr key={id}>
          <th scope="row">
            {number(installId)} <bdi>{note}</bdi>
          </th>
          <td class="number">{number(movingCount)}</td>
          <td class="number">{number(leftCount)}</td>
          <td class="number">{time(atMs)}</td>
          <td class="row-actions">
            <Button label={label} disabled={isBusy} onClick={() => onChoice(id)} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
