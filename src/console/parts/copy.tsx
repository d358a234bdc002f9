/** Buttons that copy. */

import { useSignal } from '@preact/signals';
import { texts } from '../state.ts';
import { type ApiCall, curlText } from './curl-text.ts';

interface CopyProps {
  /** Made when the button is pressed. */
  text: () => string;
  label?: string;
}

export function Copy({ text, label = texts.copying.copy }: CopyProps) {
  const says = useSignal<string | null>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      says.value = texts.copying.copied;
    } catch {
      says.value = texts.copying.failed;
    }
  };
  return (
    <span class="copy">
      <button type="button" onClick={copy}>
        {label}
      </button>
      <span role="status" class="hint">
        {says.value}
      </span>
    </span>
  );
}

/** Copies what a form does as a call of the public API. */
export function Curl({ at, call }: { at: string; call: () => ApiCall }) {
  return <Copy label={texts.copying.asCurl} text={() => curlText(location.origin, at, call())} />;
}
