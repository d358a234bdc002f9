/**
 * The draft of a form. It has the values of all controls but passwords and files, and of those
 * {@link Hidden} fields that can be restored. A form whose values may be secrets has no name, and
 * so no draft: addresses of subscriptions and of webhooks, keys, and data to import.
 */

import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Draft, keepDraft, keptDraft } from '../drafts.ts';
import { at, me, texts } from '../state.ts';
import { Button } from './button.tsx';

/** The event that tells a hidden field its value. */
export const RESTORE = 'restore';
/** Frames in which fields may appear that others bring. */
const FRAMES = 20;

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

function controlsOf(form: HTMLFormElement): Control[] {
  const all = [...form.elements] as Control[];
  return all.filter(({ dataset, name, type }) => {
    const isTyped = !/^(?:button|submit|fieldset|password|file|hidden)$/.test(type);
    return name !== '' && (isTyped || dataset['restores'] === 'true');
  });
}

const isBox = (control: Control): control is HTMLInputElement => control.type === 'checkbox';

const typedIn = (control: Control) =>
  isBox(control) ? (control.checked ? control.value : '') : control.value;

const draftIn = (form: HTMLFormElement): Draft =>
  Object.fromEntries(controlsOf(form).map((control) => [control.name, typedIn(control)]));

/** Gives a control its value as typing does. */
function put(control: Control, value: string): void {
  if (typedIn(control) === value) return;
  if (control.type === 'hidden') {
    control.dispatchEvent(new CustomEvent(RESTORE, { detail: value }));
    return;
  }
  if (isBox(control)) control.checked = value !== '';
  else control.value = value;
  for (const name of ['input', 'change']) control.dispatchEvent(new Event(name, { bubbles: true }));
}

/** Fills a form, also the fields that appear meanwhile. */
async function fill(form: HTMLFormElement, draft: Draft): Promise<void> {
  const left = new Set(Object.keys(draft));
  for (let frames = 0; frames < FRAMES && left.size > 0 && form.isConnected; frames++) {
    for (const control of controlsOf(form)) {
      const { name } = control;
      if (left.delete(name)) put(control, draft[name] ?? '');
    }
    await new Promise(requestAnimationFrame);
  }
}

interface Drafting {
  /** Keeps what the form has now. */
  keep: () => void;
  /** Drops the draft: it was sent. */
  drop: () => void;
  /** True: the form has what was typed before. */
  isRestored: boolean;
  throwAway: () => void;
}

/** Keeps the draft of a form under a name; null: keeps none. `turn`: the form has begun again. */
export function useDraft(
  form: RefObject<HTMLFormElement | null>,
  name: string | null,
  turn = 0,
): Drafting {
  const isRestored = useSignal(false);
  const isFilling = useRef(false);
  const beginning = useRef<Draft>({});
  const who = me.value?.name;
  const key = `${at.value ?? ''} ${name}`;
  const isKept = name !== null && who !== undefined;
  const drop = () => {
    isRestored.value = false;
    if (isKept) keepDraft(who, key, null);
  };
  const put = async (draft: Draft) => {
    if (form.current === null) return;
    isFilling.current = true;
    await fill(form.current, draft);
    isFilling.current = false;
  };

  useEffect(() => {
    if (!isKept || form.current === null) return;
    beginning.current = draftIn(form.current);
    const kept = keptDraft(who, key);
    if (kept !== null) {
      isRestored.value = true;
      const folded = form.current.closest('details');
      if (folded !== null) folded.open = true;
      void put(kept);
    }
    // A person who closes a dialog throws away what is in it.
    const dialog = form.current.closest('dialog');
    dialog?.addEventListener('close', drop);
    return () => dialog?.removeEventListener('close', drop);
  }, [key, turn]);

  return {
    isRestored: isRestored.value,
    drop,
    keep: () => {
      if (!isKept || form.current === null || isFilling.current) return;
      const draft = draftIn(form.current);
      const isSame = JSON.stringify(draft) === JSON.stringify(beginning.current);
      keepDraft(who, key, isSame ? null : draft);
    },
    throwAway: () => {
      drop();
      void put(beginning.current);
    },
  };
}

/** Says that the form has what was typed before, with the button that throws it away. */
export function Restored({ of: { isRestored, throwAway } }: { of: Drafting }) {
  if (!isRestored) return null;
  return (
    <p class="restored hint" role="status">
      {texts.common.restored} <Button label={texts.common.throwAway} onClick={throwAway} />
    </p>
  );
}
