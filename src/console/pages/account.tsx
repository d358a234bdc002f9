/** The person's own account: password, passkeys, the authenticator app, and sessions. */

import { useSignal } from '@preact/signals';
import { call, Refusal } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Ask } from '../parts/dialog.tsx';
import { keepFocus } from '../parts/focus.ts';
import { Field, Form } from '../parts/form.tsx';
import { agent, time } from '../parts/format.ts';
import { Card, Title } from '../parts/layout.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { QrCode } from '../parts/qr.tsx';
import { Problem, useWork } from '../parts/work.tsx';
import { askMe, me, texts } from '../state.ts';
import { hasPasskeys } from './sign-in.tsx';

function Password() {
  const words = texts.account;
  return (
    <Card title={texts.common.password}>
      <Form
        submit={words.setPassword}
        done={words.isSet}
        onSubmit={async ({ password = '' }) => {
          await call('account.password', { password });
          await askMe();
        }}
      >
        <Field
          label={texts.common.password}
          hint={words.passwordHint}
          name="password"
          type="password"
          autocomplete="new-password"
          minLength={10}
          maxLength={200}
          required
        />
      </Form>
    </Card>
  );
}

async function makePasskey(name: string) {
  const options = await call('account.passkey-begin', {});
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential | null;
  if (made === null) return;
  await call('account.passkey-add', { name, response: { ...made.toJSON() } });
}

function Passkeys() {
  const loaded = useLoaded((signal) => call('account.passkeys', {}, signal), '');
  const words = texts.account;
  const remove = async (id: number) => {
    await call('account.passkey-remove', { id });
    await loaded.load();
    keepFocus();
  };
  return (
    <Card title={words.passkeys} hint={words.passkeyHint}>
      <Status of={loaded}>
        <ul class="list">
          {loaded.value.value?.map(({ id, name, createdAtMs }) => (
            <li key={id}>
              <bdi>{name}</bdi>
              <span class="number">{time(createdAtMs)}</span>
              <Ask
                label={texts.common.remove}
                title={words.surePasskey(name)}
                onYes={() => remove(id)}
              >
                <p>{words.surePasskeyHint}</p>
              </Ask>
              <details>
                <summary>{words.rename}</summary>
                <Form
                  submit={words.rename}
                  onSubmit={async ({ name: given = '' }) => {
                    await call('account.passkey-rename', { id, name: given });
                    await loaded.load();
                  }}
                >
                  <Field
                    label={words.passkeyName}
                    name="name"
                    maxLength={64}
                    defaultValue={name}
                    required
                  />
                </Form>
              </details>
            </li>
          ))}
        </ul>
      </Status>
      {hasPasskeys() && (
        <Form
          submit={words.addPasskey}
          onSubmit={async ({ name = '' }) => {
            await makePasskey(name).catch((fault) => {
              throw fault instanceof Refusal ? fault : new Refusal('passkey_wrong', null);
            });
            await loaded.load();
            await askMe();
          }}
        >
          <Field label={words.passkeyName} name="name" maxLength={64} required />
        </Form>
      )}
    </Card>
  );
}

function SecondFactor() {
  const uri = useSignal<string | null>(null);
  const recovery = useSignal<readonly string[]>([]);
  const words = texts.account;
  const isInForce = me.value?.hasTotp === true;
  return (
    <Card title={words.factor} hint={isInForce ? words.inForce : words.factorHint}>
      {recovery.value.length > 0 && (
        <div role="status">
          <p>{words.recovery}</p>
          <ul class="codes">
            {recovery.value.map((code) => (
              <li key={code}>
                <bdi class="code">{code}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
      {isInForce && (
        <Form
          submit={words.removeFactor}
          onSubmit={async () => {
            await call('account.totp-remove', {});
            recovery.value = [];
            await askMe();
          }}
        />
      )}
      {!isInForce && uri.value === null && (
        <Form
          submit={words.beginFactor}
          onSubmit={async () => {
            uri.value = (await call('account.totp-begin', {})).uri;
          }}
        />
      )}
      {!isInForce && uri.value !== null && (
        <Form
          submit={words.confirm}
          onSubmit={async ({ code = '' }) => {
            recovery.value = (await call('account.totp-confirm', { code: code.trim() })).recovery;
            uri.value = null;
            await askMe();
          }}
        >
          <p>{words.scan}</p>
          <QrCode text={uri.value} label={texts.account.factor} />
          <Field
            label={texts.signIn.code}
            name="code"
            inputMode="numeric"
            autocomplete="one-time-code"
            maxLength={6}
            required
          />
        </Form>
      )}
    </Card>
  );
}

function Sessions() {
  const loaded = useLoaded((signal) => call('session.list', {}, signal), '');
  const words = texts.account;
  const { problem, run } = useWork();
  const end = async (id: number) => {
    await run(() => call('session.end', { id }));
    await loaded.load();
  };
  return (
    <Card title={words.sessions}>
      <Status of={loaded}>
        <ul class="list">
          {loaded.value.value?.map((one) => (
            <li key={one.id}>
              <bdi class="agent" title={one.agent}>
                {agent(one.agent)}
              </bdi>
              <span class="number">
                <bdi>{one.client}</bdi> · {words.seen(time(one.seenAtMs))}
              </span>
              {one.isThis ? (
                <span class="badge good">{words.thisOne}</span>
              ) : (
                <Button label={words.end} onClick={() => end(one.id)} />
              )}
            </li>
          ))}
        </ul>
      </Status>
      <Problem of={problem} />
    </Card>
  );
}

/** A provider that signed in with its key has no account: it sees its sessions only. */
export function AccountPage() {
  const isAccount = me.value?.isAccount === true;
  return (
    <>
      <Title name={texts.account.title} />
      {me.value?.hasWayIn === false && <p class="notice">{texts.account.finish}</p>}
      {isAccount || <p class="hint">{texts.account.byKey}</p>}
      <div class="columns">
        {isAccount && (
          <>
            <Password />
            <Passkeys />
            <SecondFactor />
          </>
        )}
        <Sessions />
      </div>
    </>
  );
}
