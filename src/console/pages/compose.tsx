/** The form of a notification: texts by language, look, targets and time. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Dropdown } from '../parts/choice.tsx';
import { takeDraft } from '../parts/draft.ts';
import { Field, Hidden, Select, TextArea } from '../parts/form.tsx';
import { Title } from '../parts/layout.tsx';
import { lengthOf, useLeft } from '../parts/left.ts';
import { useLive } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { wordsAlone } from '../parts/misfit.ts';
import { Phone } from '../parts/phone.tsx';
import { Bytes, Examples, Placeholders } from '../parts/preview.tsx';
import { type Given, SendForm, scheduleIn, Targets, targetsIn } from '../parts/send-form.tsx';
import { query, texts } from '../state.ts';

type Preview = Got<'send.preview'>;
type Source = Got<'send.source'>;

const PAUSE_MS = 250;
const LOCALES = ['ru', 'en', 'fa', 'zh-CN', 'uk', 'tr', 'de', 'es'] as const;
const FIRST = '';

const isIn = (list: string, one: string) => list.split(' ').includes(one);
const fieldOf = (name: string, locale: string) => (locale === FIRST ? name : `${name} ${locale}`);

/** Returns the body for the API; a language without a body text is omitted. */
function formOf(given: Given) {
  const locales = (given['locales'] ?? '').split(' ').filter(Boolean);
  const text = (name: string, locale: string) => (given[fieldOf(name, locale)] ?? '').trim();
  const own = locales.flatMap((locale) => {
    const [title, body, link] = [text('title', locale), text('body', locale), text('link', locale)];
    const said = {
      ...(title !== '' && { title }),
      ...(body !== '' && { body }),
      ...(link !== '' && { 'link-for-open': link }),
    };
    return Object.keys(said).length === 0 ? [] : [[locale, said]];
  });
  const [title, link] = [text('title', FIRST), text('link', FIRST)];
  const picture = text('picture', FIRST);
  return {
    ...(title !== '' && { title }),
    body: text('body', FIRST),
    ...(link !== '' && { link_for_open: link }),
    ...(picture !== '' && { background_image: picture }),
    ...(own.length > 0 && { locales: Object.fromEntries(own) }),
    type_push: given['type'] ?? 'optional',
    expire_days: Number(given['days'] ?? 7),
    ...scheduleIn(given),
  };
}

const fillIn = (given: Given) => (given['fill'] === '1' ? { fill: 1 } : {});

const textIn = (value: unknown) => (typeof value === 'string' ? value : '');
const recordIn = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

interface TextsProps {
  locale: string;
  from: Record<string, unknown>;
  onRemove?: () => void;
}

/** The texts of a language; those of the first serve all languages without texts. */
function TextFields({ from, locale, onRemove }: TextsProps) {
  const words = texts.compose;
  const link = textIn(from['link_for_open']) || textIn(from['link-for-open']);
  return (
    <fieldset class="texts">
      <legend>{locale === FIRST ? words.allLanguages : <bdi>{locale}</bdi>}</legend>
      <Field
        label={words.titleLabel}
        name={fieldOf('title', locale)}
        dir="auto"
        defaultValue={textIn(from['title'])}
      />
      <TextArea
        label={words.body}
        name={fieldOf('body', locale)}
        rows={5}
        dir="auto"
        defaultValue={textIn(from['body'])}
        required={locale === FIRST}
      />
      <Field
        label={words.link}
        hint={locale === FIRST ? words.linkHint : ''}
        name={fieldOf('link', locale)}
        dir="ltr"
        defaultValue={link}
      />
      {onRemove && <Button label={words.removeLanguage} onClick={onRemove} />}
    </fieldset>
  );
}

/** The switch that has placeholders filled, with the list of them. */
function Fill({ isChosen }: { isChosen: boolean }) {
  const words = texts.compose;
  const isOn = useSignal(isChosen);
  return (
    <>
      <Select
        label={words.fill}
        name="fill"
        options={[
          ['', words.fillOff],
          ['1', words.fillOn],
        ]}
        value={isChosen ? '1' : ''}
        onChoice={(value) => (isOn.value = value === '1')}
      />
      {isOn.value && (
        <div class="hint">
          <Placeholders />
        </div>
      )}
    </>
  );
}

function AddLanguage({ locales }: { locales: Signal<readonly string[]> }) {
  const free = LOCALES.filter((one) => !locales.value.includes(one));
  if (free.length === 0) return null;
  return (
    <Dropdown
      class="add-language"
      label={texts.compose.addLanguage}
      options={['', ...free].map((one) => [one, one || texts.compose.addLanguage])}
      value=""
      onChoice={(one) => (locales.value = [...locales.value, one])}
    />
  );
}

function Compose({ at, source }: { at: string; source: Source | null }) {
  const payload = source?.payload ?? {};
  const copied = recordIn(payload['locales']);
  const locales = useSignal<readonly string[]>(Object.keys(copied));
  const preview = useSignal<Preview | null>(null);
  const problem = useSignal<string | null>(null);
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  const asked = useRef(0);
  const words = texts.compose;
  const bodyOf = (given: Given) => ({
    PushNotificationForm: formOf(given),
    ...fillIn(given),
    ...targetsIn(given),
  });
  const show = (given: Given) => {
    clearTimeout(pause.current);
    pause.current = setTimeout(async () => {
      asked.current += 1;
      const round = asked.current;
      const form = formOf(given);
      if (form.body === '') {
        preview.value = null;
        return;
      }
      try {
        const body = { PushNotificationForm: form, ...fillIn(given) };
        const found = await call('send.preview', { at, body });
        if (round !== asked.current) return;
        preview.value = found;
        problem.value = null;
      } catch (fault) {
        if (round === asked.current) problem.value = wordsAlone(fault);
      }
    }, PAUSE_MS);
  };
  useEffect(() => () => clearTimeout(pause.current), []);
  return (
    <div class="compose">
      <SendForm
        at={at}
        kind="push"
        path="/remote/notification"
        bodyOf={bodyOf}
        onInput={show}
        draft={source === null ? 'message' : null}
      >
        <div class="languages">
          <TextFields locale={FIRST} from={payload} />
          {locales.value.map((locale) => (
            <TextFields
              key={locale}
              locale={locale}
              from={recordIn(copied[locale])}
              onRemove={() => (locales.value = locales.value.filter((one) => one !== locale))}
            />
          ))}
        </div>
        <Hidden
          name="locales"
          value={locales.value.join(' ')}
          onRestore={(value) => (locales.value = LOCALES.filter((one) => isIn(value, one)))}
        />
        <AddLanguage locales={locales} />
        <Fill isChosen={payload['fill'] === 1} />
        <Field
          label={words.background}
          hint={words.backgroundHint}
          name="picture"
          dir="ltr"
          defaultValue={textIn(payload['background_image'])}
        />
        <Select
          label={words.type}
          name="type"
          options={[
            ['optional', words.optional],
            ['force', words.force],
          ]}
          value={textIn(payload['type_push']) || 'optional'}
        />
        <Field
          label={words.days}
          name="days"
          type="number"
          min={1}
          max={365}
          defaultValue={String(payload['expire_days'] ?? 7)}
          required
        />
        <Targets at={at} hwids={source?.hwids ?? ''} os={source?.os ?? ['android', 'ios']} />
      </SendForm>
      <aside class="card" aria-label={words.preview}>
        <h2>{words.preview}</h2>
        <p class="problem" role="status" hidden={problem.value === null}>
          {problem.value}
        </p>
        {preview.value === null && <p class="hint">{words.previewHint}</p>}
        {preview.value?.texts.map((one) => (
          <Phone key={one.locale} of={one} />
        ))}
        {preview.value && <Bytes of={preview.value} />}
        {preview.value && <Examples of={preview.value.examples} />}
      </aside>
    </div>
  );
}

function Countdown({ opens }: { opens: { opensAtMs: number; nowMs: number } }) {
  const left = useLeft(opens.opensAtMs, opens.nowMs);
  const words = texts.compose;
  return <>{left > 0 ? words.opensIn(lengthOf(left)) : words.interval}</>;
}

/** Shows the time from which a message to all is accepted. */
function Opens({ at }: { at: string }) {
  const opens = useLoaded((signal) => call('send.opens', { at }, signal), at);
  // A message to all by a colleague starts the same wait.
  useLive('messages', () => void opens.load(), at);
  const { nowMs, opensAtMs } = opens.value.value ?? {};
  return opensAtMs == null || nowMs === undefined ? (
    <p>{texts.compose.interval}</p>
  ) : (
    <p class="notice">
      <Countdown opens={{ opensAtMs, nowMs }} />
    </p>
  );
}

/** Returns the message that another page began; null: none did. */
function begunSource(): Source | null {
  const draft = takeDraft();
  if (draft === null) return null;
  return { kind: 'push', payload: { body: draft.body }, hwids: draft.hwids, os: [] };
}

/** Loads the message that is copied. */
export function useSource(at: string) {
  const copy = Number(query.value.get('copy') ?? 0);
  return useLoaded(
    async (signal) => ({
      source: copy > 0 ? await call('send.source', { at, id: copy }, signal) : begunSource(),
    }),
    `${at} ${copy}`,
  );
}

export function ComposePage({ at }: { at: string }) {
  const loaded = useSource(at);
  const found = loaded.value.value;
  return (
    <>
      <Title name={texts.compose.title}>
        <Opens at={at} />
      </Title>
      <Status of={loaded}>{found && <Compose at={at} source={found.source} />}</Status>
    </>
  );
}
