/** Backups: the schedule, the list, and an encrypted copy for a download. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { bytes } from '../../parts/bytes.ts';
import { Field, Form } from '../../parts/form.tsx';
import { number, time } from '../../parts/format.ts';
import { Card, Facts, Nothing, Title } from '../../parts/layout.tsx';
import { Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { Problem } from '../../parts/work.tsx';
import { may, texts, wordsFor } from '../../state.ts';

type Backups = NonNullable<Got<'backups.list'>>;
type File = Backups['files'][number];

function Row({ of }: { of: File }) {
  const words = texts.backups;
  const said = useSignal<{ problem: string | null } | null>(null);
  const isBusy = useSignal(false);
  const verify = async () => {
    isBusy.value = true;
    said.value = await call('backups.verify', { name: of.name }).catch((fault) => ({
      problem: wordsFor(fault),
    }));
    isBusy.value = false;
  };
  return (
    <tr>
      <th scope="row">
        <bdi class="code">{of.name}</bdi>
      </th>
      <td class="number">{time(of.atMs)}</td>
      <td class="number">{bytes(of.bytes)}</td>
      <td role="status">
        {isBusy.value && texts.loading}
        {said.value !== null && said.value.problem === null && (
          <span class="badge good">{words.good}</span>
        )}
        {said.value !== null && said.value.problem !== null && (
          <>
            <span class="badge bad">{words.bad}</span> <bdi>{said.value.problem}</bdi>
          </>
        )}
      </td>
      <td class="row-actions">
        {may('backups.verify') && (
          <Button label={words.verify} onClick={verify} disabled={isBusy.value} />
        )}
      </td>
    </tr>
  );
}

function Make({ onMade }: { onMade: () => Promise<void> }) {
  const words = texts.backups;
  const problem = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const make = async () => {
    isBusy.value = true;
    problem.value = await call('backups.make', {}).then((made) => made.problem, wordsFor);
    isBusy.value = false;
    await onMade();
  };
  return (
    <>
      <div class="actions">
        <Button label={words.make} class="main" onClick={make} disabled={isBusy.value} />
        <p class="hint" role="status">
          {isBusy.value && words.making}
        </p>
      </div>
      <Problem of={problem} />
    </>
  );
}

function Download() {
  const words = texts.backups;
  const size = useSignal<number | null>(null);
  const problem = useSignal<string | null>(null);
  return (
    <Card title={words.download} hint={words.downloadHint}>
      <Form
        submit={words.prepare}
        onSubmit={async ({ passphrase = '' }) => {
          size.value = null;
          const made = await call('backups.prepare', { passphrase });
          [size.value, problem.value] = [made.bytes, made.problem];
        }}
      >
        <Field
          label={words.passphrase}
          hint={words.passphraseHint}
          name="passphrase"
          type="password"
          autocomplete="new-password"
          minLength={12}
          maxLength={200}
          required
        />
      </Form>
      <Problem of={problem} />
      {size.value !== null && (
        <p class="notice" role="status">
          <a href="/console/backup" download>
            {words.save(bytes(size.value))}
          </a>
          {words.saveHint}
        </p>
      )}
    </Card>
  );
}

const timeOrNever = (ms: number | null) => (ms === null ? texts.backups.never : time(ms));

function factsOf(of: Backups) {
  const words = texts.backups;
  return [
    [words.schedule, of.schedule === '' ? words.never : <bdi class="code">{of.schedule}</bdi>],
    [words.next, of.nextMs === null ? texts.activity.nothing : time(of.nextMs)],
    [words.keep, number(of.keep)],
    [words.folder, <bdi class="code">{of.folder}</bdi>],
    [words.encrypted, of.isEncrypted ? words.yes : words.no],
    ...(of.copies === null ? [] : [[words.copied, timeOrNever(of.copies.lastMs)] as const]),
  ] as const;
}

function Page({ of, again }: { of: Backups; again: () => Promise<void> }) {
  const words = texts.backups;
  const { lastFailure } = of;
  const copyFailure = of.copies?.lastFailure;
  return (
    <>
      {lastFailure !== null && (
        <p class="problem">
          {words.failed(time(lastFailure.atMs))} <bdi>{lastFailure.reason}</bdi>
        </p>
      )}
      {copyFailure && (
        <p class="problem">
          {words.copyFailed(time(copyFailure.atMs))} <bdi>{copyFailure.reason}</bdi>
        </p>
      )}
      <div class="columns">
        <Card title={words.schedule}>
          <Facts of={factsOf(of)} />
          <p class="hint">{words.scheduleHint}</p>
          {may('backups.make') && <Make onMade={again} />}
        </Card>
        {may('backups.prepare') && <Download />}
      </div>
      {of.files.length === 0 ? (
        <Nothing title={words.none} hint={words.noneHint} />
      ) : (
        <Table heads={[texts.common.file, words.made, texts.machine.size, words.state, '']}>
          {of.files.map((file) => (
            <Row key={file.name} of={file} />
          ))}
        </Table>
      )}
    </>
  );
}

export function BackupsPage() {
  const words = texts.backups;
  const loaded = useLoaded(async (signal) => ({ of: await call('backups.list', {}, signal) }), '');
  const found = loaded.value.value;
  return (
    <>
      <Title name={words.title} />
      <Status of={loaded}>
        {found?.of ? (
          <Page of={found.of} again={loaded.load} />
        ) : (
          <Nothing title={words.elsewhere} hint={texts.refusals.no_database_file} />
        )}
      </Status>
    </>
  );
}
