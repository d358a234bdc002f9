/** Dialogs over the page; the browser returns the focus. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { texts } from '../state.ts';
import { Button } from './button.tsx';
import { Problem, useWork } from './work.tsx';

/** Opens a dialog while a signal is true. Calls `onClosed` after each way of closing it. */
export function useDialog(onClosed?: () => void) {
  const isOpen = useSignal(false);
  const dialog = useRef<HTMLDialogElement>(null);
  // With the change, not after its frame: the page below takes input again at once.
  useLayoutEffect(() => {
    if (isOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen.value]);
  const open = () => {
    isOpen.value = true;
  };
  const close = () => {
    isOpen.value = false;
  };
  const onClose = () => {
    close();
    onClosed?.();
  };
  return { isOpen, open, close, props: { ref: dialog, onClose } };
}

interface DialogProps {
  of: ReturnType<typeof useDialog>;
  title: string;
  /** Rendered while it is open only. */
  children: ComponentChildren;
}

export function Dialog({ of, title, children }: DialogProps) {
  return (
    <dialog {...of.props} aria-label={title}>
      <h2>{of.isOpen.value && title}</h2>
      {of.isOpen.value && children}
    </dialog>
  );
}

interface AskProps {
  /** The text of the button that asks, and of the button that confirms. */
  label: string;
  title: string;
  children?: ComponentChildren;
  /** After a refusal the dialog stays open and shows it. */
  onYes: () => Promise<unknown>;
}

/** A button that asks for confirmation before an action that cannot be undone. */
export function Ask({ label, title, children, onYes }: AskProps) {
  const dialog = useDialog();
  const { isBusy, problem, run } = useWork();
  const open = () => {
    problem.value = null;
    dialog.open();
  };
  const confirm = async () => {
    if (await run(onYes)) dialog.close();
  };
  return (
    <>
      <Button label={label} onClick={open} />
      <Dialog of={dialog} title={title}>
        <div class="form">
          {children}
          <Problem of={problem} />
          <div class="actions">
            <Button label={label} class="main" onClick={confirm} disabled={isBusy.value} />
            <Button label={texts.common.cancel} onClick={dialog.close} />
          </div>
        </div>
      </Dialog>
    </>
  );
}
