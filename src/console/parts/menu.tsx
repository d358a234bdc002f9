/** A button that opens a card beside it: a menu, or a choice. */

import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface MenuProps {
  label: string;
  /** An icon instead of the label, which screen readers read. */
  icon?: ComponentChildren;
  children: ComponentChildren;
}

export function Menu({ label, icon, children }: MenuProps) {
  const id = useId();
  const card = useRef<HTMLDivElement>(null);
  const close = (event: MouseEvent) => {
    if ((event.target as HTMLElement).closest('button')) card.current?.hidePopover();
  };
  return (
    <>
      <Button label={icon ?? label} popovertarget={id} {...(icon ? { 'aria-label': label } : {})} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: its buttons take keys */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it closes after them */}
      <div ref={card} id={id} class="menu" popover="auto" onClick={close}>
        {children}
      </div>
    </>
  );
}
