/** The form of a new webhook or Telegram chat, and the ticks for kinds of events. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts } from '../state.ts';
import { Choice } from './choice.tsx';
import { Curl } from './copy.tsx';
import { Field, Form, Select } from './form.tsx';
import { Card } from './layout.tsx';
import { Secret } from './secret.tsx';

type Target = Given<'webhooks.add'>['target'];
export type Kind = Got<'webhooks.list'>['kinds'][number];

const SCHEMES = ['v1', 'v1a'] as const;
const LOCALES = { en: 'English', ru: 'Русский', zh: '中文', fa: 'فارسی' } as const;

const localeIn = (text = ''): keyof typeof LOCALES =>
  text in LOCALES ? (text as keyof typeof LOCALES) : 'en';

/** Checkboxes for kinds of events; none checked means all. */
export function Events({ kinds, chosen }: { kinds: readonly Kind[]; chosen: readonly string[] }) {
  return (
    <fieldset class="ticks">
      <legend>{texts.webhooks.events}</legend>
      <p class="hint">{texts.webhooks.eventsHint}</p>
      {kinds.map((kind) => (
        <label key={kind}>
          <input type="checkbox" name={`event ${kind}`} defaultChecked={chosen.includes(kind)} />
          <bdi class="code">{kind}</bdi>
        </label>
      ))}
    </fieldset>
  );
}

const FACTS = ['note', 'phone'] as const;

/** Checkboxes for what the texts of a chat show besides. */
export function ChatFacts({ chosen }: { chosen: readonly string[] }) {
  const words = texts.webhooks;
  return (
    <fieldset class="ticks">
      <legend>{words.shows}</legend>
      <p class="hint">{words.showsHint}</p>
      {FACTS.map((fact) => (
        <label key={fact}>
          <input type="checkbox" name={`shows ${fact}`} defaultChecked={chosen.includes(fact)} />
          {words.facts[fact]}
        </label>
      ))}
    </fieldset>
  );
}

export const factsIn = (given: Record<string, string>) =>
  FACTS.filter((fact) => given[`shows ${fact}`] === 'on');

export const eventsIn = (given: Record<string, string>, kinds: readonly Kind[]) =>
  kinds.filter((kind) => given[`event ${kind}`] === 'on');

/** Returns the target that the form describes. */
function targetOf(kind: Target['kind'], given: Record<string, string>): Target {
  return kind === 'webhook'
    ? { kind, url: given['url'] ?? '', scheme: given['scheme'] === 'v1a' ? 'v1a' : 'v1' }
    : {
        kind,
        chat: given['chat'] ?? '',
        locale: localeIn(given['locale']),
        shows: factsIn(given),
      };
}

interface AddProps {
  at: string;
  kinds: readonly Kind[];
  onAdded: () => Promise<void>;
}

export function AddWebhook({ at, kinds, onAdded }: AddProps) {
  const kind = useSignal<Target['kind']>('webhook');
  const made = useSignal<Got<'webhooks.add'> | null>(null);
  const words = texts.webhooks;
  const isUrl = kind.value === 'webhook';
  const callOf = (given: Record<string, string>) => {
    const { url = '', scheme = null, chat = '', locale = null } = given;
    const shows = factsIn(given).join(',') || null;
    const params = isUrl ? { url, signature: scheme } : { chat, locale, with: shows };
    const events = eventsIn(given, kinds).join(',') || null;
    return {
      path: '/api/webhook-add',
      params: { ...params, events },
      secrets: isUrl ? {} : { bot_token: 'BOT_TOKEN' },
    };
  };
  return (
    <Card title={words.add}>
      <Choice
        label={words.kind}
        names={{ webhook: texts.common.address, telegram: words.telegram }}
        value={kind.value}
        onChoice={(one) => (kind.value = one)}
      />
      <Form
        submit={words.add}
        beside={<Curl at={at} call={callOf} />}
        onSubmit={async (given) => {
          const target = targetOf(kind.value, given);
          const token = isUrl ? null : (given['token'] ?? '');
          const events = eventsIn(given, kinds);
          made.value = await call('webhooks.add', { at, target, token, events });
          await onAdded();
        }}
      >
        {isUrl ? (
          <>
            <Field
              label={words.address}
              hint={words.addressHint}
              name="url"
              type="url"
              dir="ltr"
              maxLength={2_000}
              placeholder="https://bot.example.com/gatepost"
              required
            />
            <Select
              label={words.signature}
              name="scheme"
              options={SCHEMES.map((one) => [one, words.schemes[one]])}
              value="v1"
            />
          </>
        ) : (
          <>
            <Field label={words.chat} hint={words.chatHint} name="chat" dir="ltr" required />
            <Field
              label={words.token}
              hint={words.tokenHint}
              name="token"
              type="password"
              autocomplete="off"
              required
            />
            <Select
              label={words.locale}
              name="locale"
              options={Object.entries(LOCALES)}
              value="en"
            />
            <ChatFacts chosen={[]} />
          </>
        )}
        <Events kinds={kinds} chosen={[]} />
      </Form>
      {made.value?.secret != null && <Secret text={made.value.secret} hint={words.secretOnce} />}
      {made.value?.publicKey != null && <Secret text={made.value.publicKey} hint={words.verify} />}
    </Card>
  );
}
