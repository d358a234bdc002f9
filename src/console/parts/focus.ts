/** Takes the focus to the page, if the button that had it is gone. */
export function keepFocus(): void {
  setTimeout(() => {
    if (document.activeElement === document.body) document.getElementById('content')?.focus();
  });
}
