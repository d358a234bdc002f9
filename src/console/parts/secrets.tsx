/** A card of secrets that programs hold: their list, a form for a new one, and their removal. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { texts } from '../state.ts';
import { Ask } from './dialog.tsx';
import { keepFocus } from './focus.ts';
import { Form } from './form.tsx';
import { Card } from './layout.tsx';
import { Table } from './list.tsx';
import { Status, useLoaded } from './loaded.tsx';
import { Secret } from './secret.tsx';

interface SecretsProps<T extends { id: number; name: string }> {
  at: string;
  title: string;
  hint: string;
  /** The heads of the cells behind the name. */
  heads: readonly string[];
  list: (signal: AbortSignal) => Promise<readonly T[]>;
  cells: (of: T) => ComponentChildren;
  sure: (name: string) => string;
  remove: (id: number) => Promise<unknown>;
  submit: string;
  /** The words beside the new secret, which is shown once. */
  once: string;
  /** Makes one from the fields, and returns the secret. */
  add: (given: Record<string, string>) => Promise<string>;
  /** The fields of the form. */
  children: ComponentChildren;
}

export function Secrets<T extends { id: number; name: string }>(props: SecretsProps<T>) {
  const { add, at, cells, children, heads, hint, list, once, remove, submit, sure, title } = props;
  const loaded = useLoaded(list, at);
  const made = useSignal<string | null>(null);
  const words = texts.staff;
  const known = loaded.value.value ?? [];
  return (
    <Card title={title} hint={hint}>
      <Status of={loaded}>
        {known.length > 0 && (
          <Table heads={[texts.common.name, ...heads, '']}>
            {known.map((one) => (
              <tr key={one.id}>
                <th scope="row">
                  <bdi>{one.name}</bdi>
                </th>
                {cells(one)}
                <td class="row-actions">
                  <Ask
                    label={words.remove}
                    title={sure(one.name)}
                    onYes={async () => {
                      await remove(one.id);
                      await loaded.load();
                      keepFocus();
                    }}
                  >
                    <p>{words.sureKeyHint}</p>
                  </Ask>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Status>
      <Form
        submit={submit}
        onSubmit={async (given) => {
          made.value = await add(given);
          await loaded.load();
        }}
      >
        {children}
      </Form>
      {made.value !== null && <Secret text={made.value} hint={once} />}
    </Card>
  );
}
