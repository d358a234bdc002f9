/** The sign-in: by an account, a provider's key, a passkey, or a link that works once. */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { call, Refusal } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Field, Form } from '../parts/form.tsx';
import { Mark } from '../parts/icons.tsx';
import { LookMenu } from '../parts/look-menu.tsx';
import { hideOneTime, oneTime } from '../parts/one-time.tsx';
import { Problem } from '../parts/work.tsx';
import { askMe, go, texts, wordsFor } from '../state.ts';

type Way = 'account' | 'key';

/** Returns whether passkeys work here: browsers make none for an IP address. */
export const hasPasskeys = () =>
  'PublicKeyCredential' in window && !/^(?:[\d.]+|\[.*\])$/.test(location.hostname);

/** Says of a refused link that it is over: nothing was typed that could be wrong. */
function linkFault(fault: unknown): never {
  const isOver = fault instanceof Refusal && fault.says === 'sign_in_wrong';
  throw isOver ? new Refusal('link_over', texts.signIn.linkOver) : fault;
}

async function byPasskey() {
  const options = await call('session.passkey-challenge', {});
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  const found = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential | null;
  if (found === null) return;
  await call('session.passkey', { response: { ...found.toJSON() } });
  await askMe();
}

function AccountForm() {
  const needsCode = useSignal(false);
  return (
    <Form
      submit={texts.signIn.enter}
      onSubmit={async ({ name = '', password = '', code = '' }) => {
        try {
          await call('session.password', { name, password, code });
        } catch (fault) {
          if (fault instanceof Refusal && fault.says === 'code_needed') needsCode.value = true;
          throw fault;
        }
        await askMe();
      }}
    >
      <Field label={texts.common.name} name="name" autocomplete="username" required />
      <Field
        label={texts.common.password}
        name="password"
        type="password"
        autocomplete="current-password"
        required
      />
      {needsCode.value && (
        <Field
          label={texts.signIn.code}
          hint={texts.signIn.codeHint}
          name="code"
          autocomplete="one-time-code"
          inputMode="numeric"
          required
        />
      )}
    </Form>
  );
}

const KeyForm = () => (
  <Form
    submit={texts.signIn.enter}
    onSubmit={async ({ code = '', key = '' }) => {
      await call('session.key', { code: code.trim(), key: key.trim() });
      await askMe();
    }}
  >
    <Field label={texts.signIn.providerCode} name="code" maxLength={8} dir="ltr" required />
    <Field
      label={texts.common.key}
      hint={texts.signIn.keyHint}
      name="key"
      type="password"
      autocomplete="off"
      dir="ltr"
      required
    />
  </Form>
);

function Invited({ secret }: { secret: string }) {
  return (
    <>
      <h1>{texts.signIn.invited}</h1>
      <p class="hint">{texts.signIn.invitedHint}</p>
      <Form
        submit={texts.signIn.accept}
        onSubmit={async ({ name = '' }) => {
          await call('session.invited', { secret, name }).catch(linkFault);
          oneTime.value = null;
          await askMe();
          go('/console/account');
        }}
      >
        <Field label={texts.common.name} name="name" autocomplete="username" required />
      </Form>
    </>
  );
}

export function SignIn() {
  const way = useSignal<Way>('account');
  const problem = useSignal<string | null>(null);
  const opened = oneTime.value;
  useEffect(() => {
    if (opened?.kind !== 'entry') return;
    hideOneTime();
    oneTime.value = null;
    call('session.entry', { secret: opened.secret })
      .catch(linkFault)
      .then(askMe)
      .then(() => go('/console/account'))
      .catch((fault) => {
        problem.value = wordsFor(fault);
      });
  }, [opened]);
  const tab = (kind: Way, label: string) => (
    <Button label={label} aria-pressed={way.value === kind} onClick={() => (way.value = kind)} />
  );
  return (
    <div class="door">
      <main class="card">
        <Mark />
        {opened?.kind === 'invitation' ? (
          <Invited secret={opened.secret} />
        ) : (
          <>
            <h1>{texts.signIn.title}</h1>
            <p class="hint">{texts.signIn.hint}</p>
            <Problem of={problem} />
            <fieldset class="ways" aria-label={texts.signIn.title}>
              {tab('account', texts.signIn.byAccount)}
              {tab('key', texts.signIn.byKey)}
            </fieldset>
            {way.value === 'account' ? <AccountForm /> : <KeyForm />}
            {way.value === 'account' && hasPasskeys() && (
              <button
                type="button"
                class="wide"
                onClick={() =>
                  byPasskey().catch((fault) => {
                    // The browser's own error means that the person cancelled.
                    problem.value = fault instanceof Refusal ? wordsFor(fault) : null;
                  })
                }
              >
                {texts.signIn.passkey}
              </button>
            )}
          </>
        )}
      </main>
      <footer>
        <LookMenu />
      </footer>
    </div>
  );
}
