/** The webhooks and Telegram chats of a provider: their events and their health. */

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Got } from '../../call/table.ts';
import { call, Refusal } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Curl } from '../parts/copy.tsx';
import { Ask } from '../parts/dialog.tsx';
import { keepFocus } from '../parts/focus.ts';
import { Form } from '../parts/form.tsx';
import { date, number, time } from '../parts/format.ts';
import { Facts, Nothing, Title } from '../parts/layout.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { Secret } from '../parts/secret.tsx';
import { AddWebhook } from '../parts/webhook-new.tsx';
import {
  chatSettings,
  type Kind,
  type OwnWebhook,
  ownSettings,
} from '../parts/webhook-settings.tsx';
import { may, texts, wordsFor } from '../state.ts';

type List = Got<'webhooks.list'>;
type Webhook = List['webhooks'][number];

const receiverName = ({ chat, url }: Webhook) => url ?? chat ?? '';

function State({ of }: { of: Webhook }) {
  const words = texts.webhooks;
  if (of.disabled !== null) return <span class="badge">{texts.common.off}</span>;
  if (of.problem !== null) return <span class="badge bad">{words.isFailing}</span>;
  return <span class="badge good">{words.isOn}</span>;
}

const NOT_FACTS = {
  id: null,
  kind: null,
  url: null,
  urlFingerprint: null,
  signature: null,
  publicKey: null,
  chat: null,
  bot: null,
  locale: null,
  shows: null,
  secretFingerprint: null,
  previousUntilMs: null,
  isMore: null,
  failed: null,
};

interface CardProps {
  at: string;
  of: Webhook;
  kinds: readonly Kind[];
  onChange: () => Promise<void>;
}

/** The facts of a card; null: it is elsewhere on the card, or not shown. */
function factsOf(of: Webhook) {
  const words = texts.webhooks;
  const { disabled, problem, waitingCount } = of;
  const facts: Record<
    Exclude<keyof Webhook, keyof OwnWebhook>,
    readonly [string, JSX.Element | string] | null
  > = {
    waitingCount: [
      words.waiting,
      of.isMore ? words.atLeast(number(waitingCount)) : number(waitingCount),
    ],
    createdAtMs: [words.made, date(of.createdAtMs)],
    disabled: disabled && [words.offSince(time(disabled.atMs)), <bdi>{disabled.why}</bdi>],
    problem: problem === null ? null : [words.problem, <bdi>{problem}</bdi>],
    ...NOT_FACTS,
  };
  return [...ownSettings.facts(of), ...Object.values(facts)].filter((fact) => fact !== null);
}

function Failed({ of }: { of: Webhook }) {
  if (of.failed.length === 0) return null;
  return (
    <details>
      <summary>{texts.webhooks.failed(of.failed.length)}</summary>
      <ul class="list">
        {of.failed.map(({ atMs, kind, problem }, n) => (
          <li key={n}>
            <bdi class="code">{kind}</bdi>
            <bdi>{problem}</bdi>
            <span class="number">{time(atMs)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Returns the settings of a chat. */
const chatOf = ({ locale, shows }: Webhook) => ({ shows, ...(locale !== null && { locale }) });

/** The form of the settings of a webhook. */
function SettingsForm({ at, kinds, of, onChange }: CardProps) {
  const words = texts.webhooks;
  const { id } = of;
  const isChat = of.kind === 'telegram';
  return (
    <details>
      <summary>{words.changeEvents}</summary>
      <Form
        submit={texts.common.save}
        beside={
          <Curl
            at={at}
            call={(given) => ({
              path: '/api/webhook-update',
              params: {
                id,
                ...ownSettings.params(ownSettings.read(given, kinds)),
                ...(isChat && chatSettings.params(chatSettings.read(given, kinds))),
              },
            })}
          />
        }
        onSubmit={async (given) => {
          const own = ownSettings.read(given, kinds);
          const chat = isChat && chatSettings.read(given, kinds);
          await call('webhooks.edit', { at, id, ...own, ...chat });
          await onChange();
        }}
      >
        {ownSettings.fields(of, kinds)}
        {isChat && chatSettings.fields(chatOf(of), kinds)}
      </Form>
    </details>
  );
}

function WebhookCard({ at, kinds, of, onChange }: CardProps) {
  const says = useSignal<{ isGood: boolean; text: string } | null>(null);
  const fresh = useSignal<Got<'webhooks.rotate'> | null>(null);
  const isBusy = useSignal(false);
  const words = texts.webhooks;
  const { id } = of;
  const run = async (work: () => Promise<string | null>) => {
    isBusy.value = true;
    says.value = null;
    try {
      const text = await work();
      says.value = text === null ? null : { isGood: true, text };
    } catch (fault) {
      says.value = { isGood: false, text: wordsFor(fault) };
    }
    isBusy.value = false;
  };
  const test = () =>
    run(async () => {
      const { problem } = await call('webhooks.test', { at, id });
      if (problem !== null) throw new Refusal('webhook_test_failed', problem);
      return words.accepted;
    });
  const change = (work: () => Promise<unknown>) =>
    run(async () => {
      await work();
      await onChange();
      return null;
    });
  return (
    <section class="card" aria-busy={isBusy.value}>
      <div class="title">
        <h2>
          <bdi>{receiverName(of)}</bdi> <small class="hint">{texts.common.numbered(`${id}`)}</small>
        </h2>
        <State of={of} />
      </div>
      <Facts of={factsOf(of)} class="hook-facts" />
      <Failed of={of} />
      {may('webhooks.edit') && (
        <>
          <div class="actions">
            <Button label={words.test} onClick={test} disabled={isBusy.value} />
            <Button
              label={of.disabled === null ? texts.common.disable : texts.common.enable}
              onClick={() =>
                change(() => call('webhooks.edit', { at, id, isEnabled: of.disabled !== null }))
              }
            />
            {of.kind === 'webhook' && (
              <Button
                label={words.rotate}
                onClick={() =>
                  change(async () => {
                    fresh.value = await call('webhooks.rotate', { at, id, token: null });
                  })
                }
              />
            )}
            <Ask
              label={texts.common.remove}
              title={words.sure}
              onYes={async () => {
                await call('webhooks.remove', { at, id });
                await onChange();
                keepFocus();
              }}
            >
              <p>
                <bdi>{receiverName(of)}</bdi>
              </p>
              <p>{words.sureHint}</p>
            </Ask>
          </div>
          <SettingsForm at={at} kinds={kinds} of={of} onChange={onChange} />
        </>
      )}
      <p class={says.value?.isGood ? 'good' : 'problem'} role="status" hidden={says.value === null}>
        {says.value?.text}
      </p>
      {fresh.value?.secret != null && <Secret text={fresh.value.secret} hint={words.rotated} />}
      {fresh.value?.publicKey != null && (
        <Secret text={fresh.value.publicKey} hint={words.rotated} />
      )}
    </section>
  );
}

export function WebhooksPage({ at }: { at: string }) {
  const loaded = useLoaded((signal) => call('webhooks.list', { at }, signal), at);
  const found = loaded.value.value;
  const words = texts.webhooks;
  return (
    <>
      <Title name={words.title}>
        <p>{words.what}</p>
      </Title>
      <Status of={loaded}>
        {found?.webhooks.length === 0 && <Nothing title={words.none} hint={words.noneHint} />}
        {found?.webhooks.map((one) => (
          <WebhookCard key={one.id} at={at} of={one} kinds={found.kinds} onChange={loaded.load} />
        ))}
        {found && may('webhooks.add') && (
          <AddWebhook at={at} kinds={found.kinds} onAdded={loaded.load} />
        )}
      </Status>
    </>
  );
}
