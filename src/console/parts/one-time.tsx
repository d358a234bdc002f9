/** The link that works once, by its secret in the address: an entry, or an invitation. */

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { me, signOut, texts } from '../state.ts';
import { Button } from './button.tsx';

interface OneTime {
  kind: 'entry' | 'invitation';
  secret: string;
}

/** Reads the fragment, which is sent to no server. */
function inAddress(): OneTime | null {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const kind of ['entry', 'invitation'] as const) {
    const secret = given.get(kind);
    if (secret !== null) return { kind, secret };
  }
  return null;
}

/** The link that was opened and not used; null: none. */
export const oneTime = signal(inAddress());

addEventListener('hashchange', () => {
  oneTime.value = inAddress() ?? oneTime.value;
});

/** Takes the secret out of the address and the history. */
export function hideOneTime(): void {
  if (inAddress() !== null) history.replaceState(null, '', location.pathname + location.search);
}

/** Says to a person who is signed in what the opened link needs. */
export function OneTimeNotice() {
  const opened = oneTime.value;
  useEffect(() => {
    if (opened !== null) hideOneTime();
  }, [opened]);
  if (opened === null) return null;
  return (
    <div class="notice" role="alert">
      <p>{texts.signIn.signedInAs(me.value?.name ?? '')}</p>
      <Button label={texts.signIn.leaveFor} onClick={signOut} />
      <Button label={texts.common.cancel} onClick={() => (oneTime.value = null)} />
    </div>
  );
}
