/** A device that a link refused: the reason, and the button that admits it. */

import type { Given, Got } from '../../call/table.ts';
import { go, may, texts } from '../state.ts';
import { Button } from './button.tsx';
import { number, time } from './format.ts';
import { LIMIT_MAX } from './link-limit.tsx';

type Shown = Got<'links.show'>;
type Refusal = Shown['refused'][number];

export const ACTIVE = 10;

/** Actions of the panel: each shows its refusal in the head of the panel and reloads the link. */
export interface Acts {
  edit: (change: Omit<Given<'links.edit'>, 'at' | 'id'>) => Promise<void>;
  free: (hwid: string) => Promise<void>;
  name: (hwids: string[]) => Promise<void>;
  /** Lets a HWID that was cut off come back. */
  lift: (hwid: string) => Promise<void>;
  run: (work: () => Promise<unknown>) => Promise<void>;
}

/** The button that admits a refused device. */
function Remedy({ acts, of, shown }: { acts: Acts; of: Refusal; shown: Shown }) {
  const words = texts.link;
  const isOwner = may('links.edit');
  switch (of.remedy) {
    case 'enable':
      return isOwner ? (
        <Button label={texts.common.enable} onClick={() => acts.edit({ status: ACTIVE })} />
      ) : null;
    case 'domain':
      return <Button label={words.toDomains} onClick={() => go('/console/domains')} />;
    case 'name':
      return may('links.name') ? (
        <Button label={words.nameOne} onClick={() => acts.name([of.hwid])} />
      ) : null;
    case 'room':
      return (
        <>
          {of.wasHwid !== null && may('slots.free') && (
            <Button label={words.freeOld} onClick={() => acts.free(of.wasHwid ?? '')} />
          )}
          {isOwner && shown.deviceCount < LIMIT_MAX && (
            <Button
              label={words.raise(number(shown.deviceCount + 1))}
              onClick={() => acts.edit({ limit: shown.deviceCount + 1 })}
            />
          )}
        </>
      );
    case 'lift':
      return may('bars.lift') ? (
        <Button label={words.lift} onClick={() => acts.lift(of.hwid)} />
      ) : null;
    case 'now':
    case 'hwid':
      return null;
  }
}

export function RefusedRow({ acts, of, shown }: { acts: Acts; of: Refusal; shown: Shown }) {
  const words = texts.link;
  return (
    <li>
      <div class="device">
        <strong>
          <bdi>{of.deviceName || words.nameless}</bdi>
        </strong>
        {of.hwid !== '' && <bdi class="code">{of.hwid}</bdi>}
        <span>
          {words.refusedFor(texts.reasons[of.reason], number(of.count), time(of.lastAtMs))}
        </span>
        <span class="hint">{words.remedies[of.remedy]}</span>
        {of.wasHwid !== null && (
          <span>
            {words.samePhone} <bdi class="code">{of.wasHwid}</bdi>
          </span>
        )}
      </div>
      <div class="actions">
        <Remedy acts={acts} of={of} shown={shown} />
      </div>
    </li>
  );
}
