/** Fields and forms: a label, a hint, and the server's answer beside them. */

import { useSignal } from '@preact/signals';
import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Options } from './choice.tsx';
import { unmark, wordsIn } from './misfit.ts';
import { RESTORE, Restored, useDraft } from './use-draft.tsx';
import { Problem, useWork } from './work.tsx';

type FieldProps = JSX.IntrinsicElements['input'] & { label: string; hint?: string };

/** A field of another name is a new element: it keeps neither the text nor a bound of the last. */
export function Field({ label, hint, ...input }: FieldProps) {
  const id = useId();
  return (
    <div key={input.name} class="field">
      <label for={id}>{label}</label>
      <input id={id} {...(hint && { 'aria-describedby': `${id}-hint` })} {...input} />
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type TextAreaProps = JSX.IntrinsicElements['textarea'] & { label: string; hint?: string };

export function TextArea({ label, hint, ...textarea }: TextAreaProps) {
  return (
    <label key={textarea.name} class="field">
      <span>{label}</span>
      <textarea dir="ltr" {...textarea} />
      {hint && <small>{hint}</small>}
    </label>
  );
}

interface HiddenProps {
  name: string;
  value: string;
  /** Takes the value of a draft; absent: drafts do not have the field. */
  onRestore?: (value: string) => void;
}

/** Puts a state of the page into its form as a field: a change of it is input. */
export function Hidden({ name, onRestore, value }: HiddenProps) {
  const field = useRef<HTMLInputElement>(null);
  const known = useRef(value);
  useLayoutEffect(() => {
    if (onRestore === undefined) return;
    const take = (event: Event) => onRestore((event as CustomEvent<string>).detail);
    field.current?.addEventListener(RESTORE, take);
    return () => field.current?.removeEventListener(RESTORE, take);
  }, []);
  useLayoutEffect(() => {
    if (known.current === value) return;
    known.current = value;
    field.current?.dispatchEvent(new Event('input', { bubbles: true }));
  }, [value]);
  const restores = onRestore !== undefined;
  return <input ref={field} type="hidden" name={name} value={value} data-restores={restores} />;
}

interface SelectProps {
  label: string;
  name: string;
  options: Options;
  value: string;
  onChoice?: (value: string) => void;
}

/** A list in a form. */
export function Select({ label, name, onChoice, options, value: chosen }: SelectProps) {
  const id = useId();
  return (
    <div key={name} class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        name={name}
        {...(onChoice && { onChange: ({ currentTarget }) => onChoice(currentTarget.value) })}
      >
        {options.map(([value, words]) => (
          <option key={value} value={value} selected={value === chosen}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

interface FormProps {
  submit: string;
  /** Receives the values of the fields by name. */
  onSubmit: (given: Record<string, string>) => Promise<void>;
  /** True: the fields keep their values after a success. */
  keeps?: boolean;
  /** The name under which its draft is kept; absent: it has secrets, or nothing to write. */
  draft?: string;
  /** The text after a success, until the next input. */
  done?: string;
  children?: ComponentChildren;
  beside?: ComponentChildren;
}

/** Returns the values of the fields of a form by name. */
export function givenIn(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

/**
 * A form that is disabled during a call, and shows its refusal. After a success its fields are made
 * again, with the state of what is in them.
 */
export function Form(props: FormProps) {
  const {
    submit,
    onSubmit,
    keeps = false,
    done,
    children,
    beside,
    draft: draftName = null,
  } = props;
  const { isBusy, problem, run } = useWork();
  const isDone = useSignal(false);
  const turn = useSignal(0);
  const element = useRef<HTMLFormElement>(null);
  const draft = useDraft(element, draftName, turn.value);

  async function send(event: SubmitEvent) {
    event.preventDefault();
    if (isBusy.value) return;
    const form = event.currentTarget as HTMLFormElement;
    const given = givenIn(form);
    isDone.value = false;
    unmark(form);
    isDone.value = await run(
      () => onSubmit(given),
      (fault) => wordsIn(form, fault),
    );
    if (isDone.value) draft.drop();
    if (isDone.value && !keeps) turn.value += 1;
  }

  return (
    <form
      ref={element}
      class="form"
      onSubmit={send}
      onInput={() => {
        isDone.value = false;
        draft.keep();
      }}
      aria-busy={isBusy.value}
    >
      <Restored of={draft} />
      <Fragment key={turn.value}>{children}</Fragment>
      <Problem of={problem} />
      <div class="actions">
        <button class="main" type="submit" disabled={isBusy.value}>
          {submit}
        </button>
        {beside}
        {done && (
          <p class="good" role="status">
            {isDone.value && done}
          </p>
        )}
      </div>
    </form>
  );
}
