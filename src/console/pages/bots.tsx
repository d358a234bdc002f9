/** The bots of a provider that fetch subscriptions for their customers. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Ask } from '../parts/dialog.tsx';
import { keepFocus } from '../parts/focus.ts';
import { Field, Form } from '../parts/form.tsx';
import { date } from '../parts/format.ts';
import { Card } from '../parts/layout.tsx';
import { Table } from '../parts/list.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { Secret } from '../parts/secret.tsx';
import { texts } from '../state.ts';

type Bot = Got<'bots.list'>[number];

function AddBot({ at, onAdded }: { at: string; onAdded: () => Promise<void> }) {
  const made = useSignal<string | null>(null);
  const words = texts.staff;
  return (
    <>
      <Form
        submit={words.addBot}
        onSubmit={async ({ name = '', host = '' }) => {
          made.value = (await call('bots.add', { at, name, host })).secret;
          await onAdded();
        }}
      >
        <Field label={texts.common.name} name="name" maxLength={64} required />
        <Field
          label={texts.domains.host}
          hint={words.botHostHint}
          name="host"
          maxLength={253}
          required
        />
      </Form>
      {made.value !== null && <Secret text={made.value} hint={words.botOnce} />}
    </>
  );
}

function BotRow({ of, onRemove }: { of: Bot; onRemove: () => Promise<void> }) {
  const { createdAtMs, host, name } = of;
  const words = texts.staff;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td>
        <bdi>{host}</bdi>
      </td>
      <td class="number" data-name={words.made}>
        {date(createdAtMs)}
      </td>
      <td class="row-actions">
        <Ask label={words.remove} title={words.sureBot(name)} onYes={onRemove}>
          <p>{words.sureKeyHint}</p>
        </Ask>
      </td>
    </tr>
  );
}

export function Bots({ at }: { at: string }) {
  const loaded = useLoaded((signal) => call('bots.list', { at }, signal), at);
  const words = texts.staff;
  const remove = async (id: number) => {
    await call('bots.remove', { at, id });
    await loaded.load();
    keepFocus();
  };
  return (
    <Card title={words.bots} hint={words.botsHint}>
      <Status of={loaded}>
        {loaded.value.value && loaded.value.value.length > 0 && (
          <Table heads={[texts.common.name, texts.domains.host, words.made, '']}>
            {loaded.value.value.map((one) => (
              <BotRow key={one.id} of={one} onRemove={() => remove(one.id)} />
            ))}
          </Table>
        )}
      </Status>
      <AddBot at={at} onAdded={loaded.load} />
    </Card>
  );
}
