/** The health of this node: findings of the doctor, event loop, disk and certificate. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { bytes } from '../../parts/bytes.ts';
import { number, time } from '../../parts/format.ts';
import { Card, Facts, Title } from '../../parts/layout.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { Problem, useWork } from '../../parts/work.tsx';
import { may, nowMs, texts } from '../../state.ts';

type Health = Got<'health.read'>;
type Findings = Got<'health.examine'>['findings'];

const SOON_MS = 14 * 86_400_000;
const LEVELS = { problem: 'bad', warning: 'warm', ok: 'good' } as const;
const ORDER = ['problem', 'warning', 'ok'] as const;

type Fact = readonly [string, ComponentChildren];

function processFacts({ process, newer }: Health): Fact[] {
  const words = texts.machine;
  const { loopCount, loopLagSeconds, loopLateCount, openFiles, openFilesMax } = process;
  const lag = loopLagSeconds === null ? null : number(loopLagSeconds * 1_000);
  const endsMs = process.certificateEndsAtMs;
  return [
    [words.node, <bdi>{process.node}</bdi>],
    [
      words.release,
      <>
        <bdi>{process.version}</bdi>{' '}
        {newer !== null && <span class="badge warm">{words.newer(newer)}</span>}
      </>,
    ],
    [words.started, time(process.startedAtMs)],
    [words.loop, lag === null ? words.unknown : words.loopLag(lag)],
    [words.loopLate, words.ofAll(number(loopLateCount), number(loopCount))],
    [words.memory, bytes(process.residentBytes)],
    [
      words.openFiles,
      openFiles === null || openFilesMax === null
        ? words.unknown
        : words.ofAll(number(openFiles), number(openFilesMax)),
    ],
    [
      words.certificate,
      endsMs === null ? (
        words.noTls
      ) : (
        <span class={endsMs - nowMs() < SOON_MS ? 'badge bad' : ''}>{time(endsMs)}</span>
      ),
    ],
  ];
}

function dataFacts({ process, queue, server, storage }: Health): Fact[] {
  const words = texts.machine;
  return [
    [words.database, process.isDatabaseFile ? 'SQLite' : 'PostgreSQL'],
    [words.size, bytes(storage.bytes)],
    ...(storage.logBytes === null ? [] : [[words.log, bytes(storage.logBytes)] as const]),
    ...(storage.diskFreeBytes === null
      ? []
      : [[words.diskFree, bytes(storage.diskFreeBytes)] as const]),
    [words.due, number(queue.dueCount)],
    [words.scheduled, number(queue.scheduledCount)],
    ...(queue.oldestDueAtMs === null
      ? []
      : [[words.oldestDue, time(queue.oldestDueAtMs)] as const]),
    ...(server === null
      ? []
      : [
          [
            words.connections,
            words.ofAll(number(server.connectionCount), number(server.connectionCountMax)),
          ] as const,
          [words.clock, words.milliseconds(number(server.clockOffsetMs))] as const,
        ]),
  ];
}

function Doctor({ last }: { last: Health['doctor'] }) {
  const words = texts.machine;
  const found = useSignal<{ atMs: number; result: Findings } | null>(last);
  const { isBusy, problem, run } = useWork();
  const examine = () =>
    run(async () => {
      const { findings } = await call('health.examine', {});
      found.value = { atMs: nowMs(), result: findings };
    });
  const shown = found.value;
  const sorted = ORDER.flatMap((level) =>
    (shown?.result ?? []).filter((one) => one.level === level),
  );
  return (
    <section class="card">
      <div class="title">
        <h2>{words.doctor}</h2>
        {may('health.examine') && (
          <Button label={words.examine} onClick={examine} disabled={isBusy.value} />
        )}
      </div>
      <p class="hint" role="status">
        {isBusy.value ? words.checking : shown === null ? words.notExamined : time(shown.atMs)}
      </p>
      <Problem of={problem} />
      <ul class="list findings">
        {sorted.map(({ check, level, todo, what }) => (
          <li key={`${check} ${what}`}>
            <span class={`badge ${LEVELS[level]}`}>{words.levels[level]}</span>
            <div>
              <p dir="auto">
                <strong>{check}</strong>: {what}
              </p>
              {todo !== null && (
                <p class="hint" dir="auto">
                  {todo}
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function HealthPage() {
  const words = texts.machine;
  const loaded = useLoaded((signal) => call('health.read', {}, signal), '');
  const health = loaded.value.value;
  return (
    <>
      <Title name={words.health}>
        <Button label={words.again} onClick={loaded.load} />
      </Title>
      <Status of={loaded}>
        {health && (
          <>
            {health.process.notReady !== null && (
              <p class="problem" role="alert">
                {words.notReady} <bdi>{health.process.notReady}</bdi>
              </p>
            )}
            <div class="columns">
              <Card title={words.process}>
                <Facts of={processFacts(health)} />
              </Card>
              <Card title={words.data}>
                <Facts of={dataFacts(health)} />
              </Card>
            </div>
            <Doctor last={health.doctor} />
          </>
        )}
      </Status>
    </>
  );
}
