/** Moves the focus to the page if the focused button was removed. */
export function keepFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus();
  });
}

/** Returns whether the focus is in a field. */
export const isTyping = () => {
  const { tagName = '', isContentEditable = false } = (document.activeElement ??
    {}) as Partial<HTMLElement>;
  return isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(tagName);
};
