/** The form of a new webhook or Telegram chat. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts } from '../state.ts';
import { Choice } from './choice.tsx';
import { Curl } from './copy.tsx';
import { Field, Form, Select } from './form.tsx';
import { Card } from './layout.tsx';
import { Secret } from './secret.tsx';
import { chatSettings, type Kind, ownSettings } from './webhook-settings.tsx';

type Target = Given<'webhooks.add'>['target'];

const SCHEMES = ['v1', 'v1a'] as const;
/** Returns the target that the form describes. */
function targetOf(kind: Target['kind'], given: Record<string, string>): Target {
  return kind === 'webhook'
    ? { kind, url: given['url'] ?? '', scheme: given['scheme'] === 'v1a' ? 'v1a' : 'v1' }
    : { kind, chat: given['chat'] ?? '', ...chatSettings.read(given, []) };
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
    const { url = '', scheme = null, chat = '' } = given;
    const params = isUrl
      ? { url, signature: scheme }
      : { chat, ...chatSettings.params(chatSettings.read(given, [])) };
    return {
      path: '/api/webhook-add',
      params: { ...params, ...ownSettings.params(ownSettings.read(given, kinds)) },
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
          const own = ownSettings.read(given, kinds);
          made.value = await call('webhooks.add', { at, target, token, ...own });
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
              label={texts.heads.scheme}
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
            {chatSettings.fields({}, kinds)}
          </>
        )}
        {ownSettings.fields({}, kinds)}
      </Form>
      {made.value?.secret != null && <Secret text={made.value.secret} hint={words.secretOnce} />}
      {made.value?.publicKey != null && <Secret text={made.value.publicKey} hint={words.verify} />}
    </Card>
  );
}
