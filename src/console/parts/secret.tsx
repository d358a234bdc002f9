/** Shows a secret once, with a button that copies it. */

import { Copy } from './copy.tsx';

export function Secret({ text, hint }: { text: string; hint: string }) {
  return (
    <div class="secret" role="status">
      <p>{hint}</p>
      <bdi class="code">{text}</bdi>
      <Copy text={() => text} />
    </div>
  );
}
