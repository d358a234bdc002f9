/** The dialog for new links: one, or many with numbered notes. */

import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call, Refusal } from '../call.ts';
import { go, query, texts } from '../state.ts';
import { Attempt } from './attempt.ts';
import { Button } from './button.tsx';
import { Curl } from './copy.tsx';
import { Dialog, useDialog } from './dialog.tsx';
import { Field, Form } from './form.tsx';
import { number } from './format.ts';
import { AddIcon } from './icons.tsx';
import { save } from './link-file.ts';
import { LIMIT_USUAL, LimitField } from './link-limit.tsx';

const COUNT_MAX = 1_000;
const DRAFTS_MAX = 100;

/** Returns the note of a link: its number replaces `{n}`, or follows the text. */
function noteOf(pattern: string, n: number, count: number): string | null {
  if (pattern === '') return null;
  if (count === 1) return pattern;
  const digits = String(n).padStart(String(count).length, '0');
  return pattern.includes('{n}') ? pattern.replaceAll('{n}', digits) : `${pattern} ${digits}`;
}

interface FieldsProps {
  count: Signal<number>;
  pattern: Signal<string>;
}

/** The fields for count, limit and notes; shows the first and the last note. */
function Fields({ count, pattern }: FieldsProps) {
  const words = texts.links;
  const note = pattern.value.trim();
  const [first, last] = [1, count.value].map((n) => noteOf(note, n, count.value) ?? '');
  const manyHint = note === '' ? words.patternHint : words.notesAre(first ?? '', last ?? '');
  return (
    <>
      <div class="pair">
        <Field
          label={words.howMany}
          name="count"
          type="number"
          min={1}
          max={COUNT_MAX}
          value={count.value}
          onInput={({ currentTarget: { valueAsNumber } }) => {
            count.value = Math.min(COUNT_MAX, Math.max(1, valueAsNumber || 1));
          }}
          required
        />
        <LimitField value={LIMIT_USUAL} />
      </div>
      <Field
        label={texts.heads.note}
        hint={count.value > 1 ? manyHint : words.noteHint}
        name="note"
        maxLength={240}
        value={pattern.value}
        onInput={({ currentTarget }) => (pattern.value = currentTarget.value)}
      />
    </>
  );
}

interface NewLinksProps {
  at: string;
  /** Receives the id of a single new link; null: several were made. */
  onMade: (id: number | null) => void;
}

export function NewLinks({ at, onMade }: NewLinksProps) {
  const dialog = useDialog();
  const count = useSignal(1);
  const pattern = useSignal('');
  const made = useSignal<readonly string[]>([]);
  const attempt = useRef(new Attempt());
  const words = texts.links;

  async function make(limit: number): Promise<void> {
    const once = attempt.current.nameOf([at, limit, count.value, pattern.value]);
    const all = Array.from({ length: count.value }, (_, n) => ({
      key: null,
      code: null,
      limit,
      once: `${once}-${n}`,
      note: noteOf(pattern.value.trim(), n + 1, count.value),
    }));
    const [only] = all;
    if (all.length === 1 && only) {
      const { id } = await call('links.add', { at, limit, note: only.note ?? '', once });
      dialog.close();
      onMade(id);
      return;
    }
    // After a failed call the dialog continues where it stopped; links that were made stay.
    while (dialog.isOpen.value && made.value.length < all.length) {
      const from = made.value.length;
      const drafts = all.slice(from, from + DRAFTS_MAX);
      const answer = await call('links.add-many', { at, drafts });
      made.value = [...made.value, ...answer.made.flatMap(({ code }) => code ?? [])];
      if (answer.isStopped) throw new Refusal('stopped', answer.made.at(-1)?.why ?? null);
    }
    onMade(null);
  }

  const open = () => {
    count.value = 1;
    pattern.value = '';
    made.value = [];
    attempt.current.end();
    dialog.open();
  };
  // The palette opens the dialog by the address.
  const isAsked = query.value.get('new') === 'link';
  useEffect(() => {
    if (!isAsked) return;
    go('/console/links', { new: null }, 'replace');
    open();
  }, [isAsked]);
  const isDone = made.value.length > 0 && made.value.length === count.value;
  return (
    <>
      <button class="main" type="button" onClick={open}>
        <AddIcon />
        {words.add}
      </button>
      <Dialog of={dialog} title={words.add}>
        {isDone ? (
          <>
            <Made codes={made.value} />
            <div class="actions">
              <Button label={texts.common.close} onClick={dialog.close} />
            </div>
          </>
        ) : (
          <Form
            submit={count.value > 1 ? words.createMany(count.value) : words.create}
            beside={
              <>
                <Button label={texts.common.cancel} onClick={dialog.close} />
                {count.value === 1 && (
                  <Curl
                    at={at}
                    call={({ limit = '', note = '' }) => ({
                      path: '/api/add-install',
                      params: { install_limit: limit, note: note.trim() || null },
                    })}
                  />
                )}
              </>
            }
            draft="new link"
            onSubmit={({ limit }) => make(Number(limit))}
          >
            <Fields count={count} pattern={pattern} />
            {made.value.length > 0 && (
              <p role="status">{words.madeOf(number(made.value.length), number(count.value))}</p>
            )}
          </Form>
        )}
      </Dialog>
    </>
  );
}

/** Shows the codes of the new links, to copy or save. */
function Made({ codes }: { codes: readonly string[] }) {
  const text = codes.join('\n');
  return (
    <div class="form">
      <p role="status">{texts.links.areReady(codes.length)}</p>
      <textarea aria-label={texts.links.code} class="code" rows={6} readOnly value={text} />
      <div class="actions">
        <Button
          label={texts.links.copyCodes}
          class="main"
          onClick={() => navigator.clipboard.writeText(text)}
        />
        <Button label={texts.links.saveCodes} onClick={() => save('links.txt', [`${text}\n`])} />
      </div>
    </div>
  );
}
