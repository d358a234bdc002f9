/** The dialog for a new provider, and its credentials, which are shown once. */

import { useSignal } from '@preact/signals';
import { call } from '../call.ts';
import { texts } from '../state.ts';
import { Field, Form } from './form.tsx';
import { AddIcon } from './icons.tsx';
import { useDialog } from './link-tools.tsx';
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
  const { isOpen, props } = useDialog();
  const made = useSignal<Credentials | null>(null);
  const words = texts.providers;
  const open = () => {
    made.value = null;
    isOpen.value = true;
  };
  const close = (
    <button type="button" onClick={() => (isOpen.value = false)}>
      {made.value === null ? texts.links.cancel : texts.links.close}
    </button>
  );
  return (
    <>
      <button class="main" type="button" onClick={open}>
        <AddIcon />
        {words.add}
      </button>
      <dialog {...props} aria-label={words.add}>
        <h2>{words.add}</h2>
        {isOpen.value && made.value === null && (
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
                label={words.keyLabel}
                hint={words.keyHint}
                name="authKey"
                maxLength={32}
                autocomplete="off"
              />
            </details>
          </Form>
        )}
        {isOpen.value && made.value !== null && (
          <div class="form">
            <ShownOnce of={made.value} />
            <div class="actions">{close}</div>
          </div>
        )}
      </dialog>
    </>
  );
}
