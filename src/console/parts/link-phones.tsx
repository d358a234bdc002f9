/** The phones that send one HWID of a link. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { may, texts } from '../state.ts';
import { Ask } from './dialog.tsx';
import { time } from './format.ts';
import { systemName } from './system.ts';

type Phone = Got<'links.show'>['devices'][number]['phones'][number];

function PhoneRow({ phone }: { phone: Phone }) {
  const words = texts.link;
  const { app, family, firstSeenAtMs, lastSeenAtMs, model, state } = phone;
  const name = [model, systemName(family), app].filter(Boolean).join(' · ');
  return (
    <li>
      <div class="device">
        <bdi>{name || words.nameless}</bdi>
        <span class={state === 'certain' ? 'badge bad' : 'badge'}>{words.phoneStates[state]}</span>
        <span class="hint">{words.phoneSights(time(firstSeenAtMs), time(lastSeenAtMs))}</span>
      </div>
    </li>
  );
}

interface PhonesProps {
  at: string;
  linkId: number;
  hwid: string;
  phones: readonly Phone[];
  onIgnored: () => Promise<unknown>;
}

export function Phones({ at, linkId, hwid, phones, onIgnored }: PhonesProps) {
  const words = texts.link;
  const isCertain = phones.some(({ state }) => state === 'certain');
  const isDecided = phones.every(({ state }) => state === 'first' || state === 'ignored');
  return (
    <details class="phones" open={isCertain}>
      <summary>{words.phones(phones.length)}</summary>
      <ul class="list">
        {phones.map((phone) => (
          <PhoneRow key={phone.number} phone={phone} />
        ))}
      </ul>
      {may('phones.ignore') && !isDecided && (
        <Ask
          label={words.samePerson}
          title={words.samePersonSure}
          onYes={async () => {
            await call('phones.ignore', { at, installCode: null, installId: linkId, hwid });
            await onIgnored();
          }}
        >
          <p>{words.samePersonHint}</p>
        </Ask>
      )}
    </details>
  );
}
