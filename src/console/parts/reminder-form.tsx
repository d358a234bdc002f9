/** The form of a reminder: its amount, its texts by language, and how it will look. */

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';
import { Field, Form, Select, TextArea } from './form.tsx';
import { kept } from './format.ts';
import { Phone } from './phone.tsx';
import { Bytes, Examples, Placeholders } from './preview.tsx';

type List = Got<'reminders.list'>;
export type Draft = Pick<List['reminders'][number], 'kind' | 'amount' | 'texts'> &
  Partial<Pick<List['reminders'][number], 'pushText'>>;
type Texts = Given<'reminders.preview'>['texts'];

/** The languages that each form has a field for. */
const LANGUAGES = ['en', 'ru', 'zh', 'fa'];
const PAUSE_MS = 250;

const names = kept((tag) => new Intl.DisplayNames(tag, { type: 'language' }));
const TEXT = 'text ';

/** Returns the texts of the fields; an empty one is none. */
const textsIn = (typed: Readonly<Record<string, string>>): Texts =>
  Object.fromEntries(
    Object.entries(typed).flatMap(([name, text]) =>
      name.startsWith(TEXT) && text.trim() !== '' ? [[name.slice(TEXT.length), text.trim()]] : [],
    ),
  );

/** Shows texts as phones get them, while they are typed. */
function Preview({ at, of }: { at: string; of: Texts }) {
  const found = useSignal<Got<'reminders.preview'> | null>(null);
  const problem = useSignal<string | null>(null);
  const asked = useRef(0);
  const isEmpty = Object.keys(of).length === 0;
  useEffect(() => {
    asked.current += 1;
    const round = asked.current;
    const pause = setTimeout(async () => {
      if (isEmpty) return;
      try {
        const preview = await call('reminders.preview', { at, texts: of });
        if (round !== asked.current) return;
        [found.value, problem.value] = [preview, null];
      } catch (fault) {
        if (round === asked.current) problem.value = wordsFor(fault);
      }
    }, PAUSE_MS);
    return () => clearTimeout(pause);
  }, [JSON.stringify(of)]);
  const words = texts.compose;
  return (
    <aside class="card" aria-label={words.preview}>
      <h3>{words.preview}</h3>
      <p class="problem" role="status" hidden={problem.value === null}>
        {problem.value}
      </p>
      {found.value === null || isEmpty ? (
        <p class="hint">{words.previewHint}</p>
      ) : (
        <>
          {found.value.texts.map((one) => (
            <Phone key={one.locale} of={one} />
          ))}
          <Bytes of={found.value} />
          <Examples of={found.value.examples} />
        </>
      )}
    </aside>
  );
}

interface ReminderFormProps {
  at: string;
  of: Draft;
  bounds: List['amounts'];
  submit: string;
  onSave: (
    own: Pick<Draft, 'amount' | 'texts'> & { pushText: 'neutral' | 'full' },
  ) => Promise<void>;
  onCancel: () => void;
}

export function ReminderForm({ at, bounds, of, onCancel, onSave, submit }: ReminderFormProps) {
  const typed = useSignal<Texts>({ ...of.texts });
  const words = texts.reminders;
  const { min = 0, max = 720 } = bounds.find(({ kind }) => kind === of.kind) ?? {};
  const languages = [...new Set([...LANGUAGES, ...Object.keys(of.texts)])];
  return (
    <div
      class="compose"
      onInput={(event) => {
        const form = (event.target as HTMLElement).closest('form');
        if (form === null) return;
        const all = [...new FormData(form)].map(([name, text]) => [name, String(text)]);
        typed.value = textsIn(Object.fromEntries(all));
      }}
    >
      <Form
        submit={submit}
        keeps
        beside={<Button label={texts.common.cancel} onClick={onCancel} />}
        onSubmit={(given) =>
          onSave({
            amount: Number(given['amount']),
            texts: textsIn(given),
            pushText: given['pushText'] === 'full' ? 'full' : 'neutral',
          })
        }
      >
        <Field
          label={words.amounts[of.kind]}
          name="amount"
          type="number"
          min={min}
          max={max}
          required
          defaultValue={String(of.amount)}
        />
        {languages.map((tag) => (
          <TextArea
            key={tag}
            label={words.text(names().of(tag) ?? tag)}
            name={`${TEXT}${tag}`}
            rows={3}
            dir="auto"
            defaultValue={of.texts[tag] ?? ''}
          />
        ))}
        <p class="hint">{words.textHint}</p>
        <details class="hint">
          <summary>{words.placeholders}</summary>
          <Placeholders />
        </details>
        <Select
          label={words.pushText}
          name="pushText"
          options={[
            ['neutral', words.neutral],
            ['full', words.full],
          ]}
          value={of.pushText ?? 'neutral'}
        />
        <p class="hint">{words.pushHint}</p>
      </Form>
      <Preview at={at} of={typed.value} />
    </div>
  );
}
