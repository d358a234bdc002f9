/** Buttons that copy. */

import { useSignal } from '@preact/signals';
import { texts } from '../state.ts';
import { Button } from './button.tsx';
import { type ApiCall, curlText } from './curl-text.ts';
import { givenIn } from './form.tsx';

interface CopyProps {
  /** Returns the text when the button is pressed. */
  text: (button: HTMLButtonElement) => string;
  label?: string;
}

export function Copy({ text, label = texts.copying.copy }: CopyProps) {
  const says = useSignal<string | null>(null);
  const copy = async (button: HTMLButtonElement) => {
    try {
      await navigator.clipboard.writeText(text(button));
      says.value = texts.copying.copied;
    } catch {
      says.value = texts.copying.failed;
    }
  };
  return (
    <span class="copy">
      <Button label={label} onClick={({ currentTarget }) => copy(currentTarget)} />
      <span role="status" class="hint">
        {says.value}
      </span>
    </span>
  );
}

interface CurlProps {
  at: string;
  /** Returns the call of the API for the values of the form. */
  call: (given: Record<string, string>) => ApiCall;
}

/** A button that copies the form around it as a call of the public API. */
export function Curl({ at, call }: CurlProps) {
  const text = (button: HTMLButtonElement) => {
    const form = button.closest('form');
    return curlText(location.origin, at, call(form === null ? {} : givenIn(form)));
  };
  return <Copy label={texts.copying.asCurl} text={text} />;
}
