/** A button that does not submit the form around it. */

import type { ComponentChildren, JSX } from 'preact';

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'label'> & { label: ComponentChildren };

export function Button({ label, ...more }: ButtonProps) {
  return (
    <button type="button" {...more}>
      {label}
    </button>
  );
}
