/** The rounds of reminders, a line for a reminder and a day, and the stop of reminders. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { may, texts } from '../state.ts';
import { Ask } from './dialog.tsx';
import { date, number, time } from './format.ts';
import { Card } from './layout.tsx';
import { More, Table, useSlices } from './list.tsx';
import { Status, useLoaded } from './loaded.tsx';

type Round = Got<'reminders.rounds'>['rounds'][number];

const DAY_MS = 86_400_000;
const GOES_ON = { stoppedAtMs: null, stoppedLinks: null, stoppedMoved: null };

interface RoundsProps {
  at: string;
  /** Returns when a reminder is sent, in words. */
  whenOf(of: { kind: NonNullable<Round['kind']>; amount: number }): string;
}

export function Rounds({ at, whenOf }: RoundsProps) {
  const words = texts.rounds;
  const slices = useSlices<Round>(async (fromId, signal) => {
    const given = { at, ...(fromId !== null && { beforeId: fromId }) };
    const { nextId, rounds } = await call('reminders.rounds', given, signal);
    return { rows: rounds, nextId };
  }, at);
  const { rows } = slices;
  const nameOf = ({ amount, kind }: Round) =>
    kind === null || amount === null ? words.removed : whenOf({ kind, amount });
  return (
    <Card title={words.title} hint={words.hint}>
      <Status of={slices.loaded}>
        {rows.length === 0 ? (
          <p>{words.none}</p>
        ) : (
          <Table heads={[words.day, words.reminder, words.sent, words.got, words.ended]}>
            {rows.map((one) => (
              <tr key={one.id}>
                <td>{date(one.day * DAY_MS)}</td>
                <th scope="row">{nameOf(one)}</th>
                <td data-name={words.sent}>{number(one.recipientCount)}</td>
                <td data-name={words.got}>{number(one.gotCount)}</td>
                <td data-name={words.ended}>{number(one.endedCount)}</td>
              </tr>
            ))}
          </Table>
        )}
        <More of={slices} />
      </Status>
    </Card>
  );
}

/** Says that reminders stopped, to a person who has looked at the panel. */
export function Stopped({ at }: { at: string }) {
  const loaded = useLoaded((signal) => call('reminders.rounds', { at }, signal), at);
  const words = texts.rounds;
  const { stoppedAtMs, stoppedLinks, stoppedMoved } = loaded.value.value?.standing ?? GOES_ON;
  if (stoppedAtMs === null) return null;
  const counts = [stoppedMoved ?? 0, stoppedLinks ?? 0].map(number);
  return (
    <section class="notice">
      <h2>{words.stopped}</h2>
      <p>{words.stoppedHint(counts[0] ?? '', counts[1] ?? '', time(stoppedAtMs))}</p>
      {may('reminders.resume') && (
        <Ask
          label={words.resume}
          title={words.resume}
          onYes={async () => {
            await call('reminders.resume', { at });
            await loaded.load();
          }}
        >
          <p>{words.resumeHint}</p>
        </Ask>
      )}
    </section>
  );
}
