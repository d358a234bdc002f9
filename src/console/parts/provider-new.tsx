/** The dialog for a new provider, and its credentials, which are shown once. */

import { useSignal } from '@preact/signals';
import { call } from '../call.ts';
import { texts } from '../state.ts';
import { Button } from './button.tsx';
import { Dialog, useDialog } from './dialog.tsx';
import { Field, Form } from './form.tsx';
import { AddIcon } from './icons.tsx';
import { TermFields, termsIn } from './provider-form.tsx';
import { Secret } from './secret.tsx';

interface Credentials {
  code: string;
  authKey: string;
}

/** Shows code and key of a provider. */
export function ShownOnce({ of }: { of: Credentials }) {
  const words = texts.providers;
  return (
    <>
      <p>
        {words.codeLabel}: <bdi class="code">{of.code}</bdi>
      </p>
      <Secret text={of.authKey} hint={words.keyOnce} />
    </>
  );
}

export function NewProvider({ onMade }: { onMade: () => void }) {
  const dialog = useDialog();
  const made = useSignal<Credentials | null>(null);
  const words = texts.providers;
  const open = () => {
    made.value = null;
    dialog.open();
  };
  const close = (
    <Button
      label={made.value === null ? texts.common.cancel : texts.common.close}
      onClick={dialog.close}
    />
  );
  return (
    <>
      <button class="main" type="button" onClick={open}>
        <AddIcon />
        {words.add}
      </button>
      <Dialog of={dialog} title={words.add}>
        {made.value === null ? (
          <Form
            submit={words.add}
            beside={close}
            onSubmit={async ({ code = '', authKey = '', ...typed }) => {
              made.value = await call('providers.add', {
                ...termsIn(typed),
                ...(code !== '' && { code }),
                ...(authKey !== '' && { authKey }),
              });
              onMade();
            }}
          >
            <TermFields />
            <details>
              <summary>{words.movesIn}</summary>
              <Field label={words.codeLabel} hint={words.codeHint} name="code" maxLength={8} />
              <Field
                label={texts.common.key}
                hint={words.keyHint}
                name="authKey"
                maxLength={32}
                autocomplete="off"
              />
            </details>
          </Form>
        ) : (
          <div class="form">
            <ShownOnce of={made.value} />
            <div class="actions">{close}</div>
          </div>
        )}
      </Dialog>
    </>
  );
}
