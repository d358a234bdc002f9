/** Cut-offs of a link: the dialog that asks, those that were asked for, and barred HWIDs. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { go, may, texts } from '../state.ts';
import { Button } from './button.tsx';
import { Ask } from './dialog.tsx';
import { beginMessage } from './draft.ts';
import { time } from './format.ts';
import type { Acts } from './link-refused.tsx';
import { Status, useLoaded } from './loaded.tsx';

type Shown = Got<'links.show'>;
type Cut = Got<'cuts.list'>[number];

/** Cut-offs that the panel shows. */
const SHOWN_MAX = 3;

interface CutOffProps {
  at: string;
  id: number;
  acts: Acts;
  /** The device that is freed and barred; null: the link alone is cut off. */
  hwid: string | null;
}

/** The effect of a cut-off on the other devices, or why it is impossible. */
function Effect({ at, hwid, id }: Omit<CutOffProps, 'acts'>) {
  const words = texts.link;
  const loaded = useLoaded((signal) => call('cuts.preview', { at, linkId: id }, signal), `${id}`);
  const preview = loaded.value.value;
  if (preview == null) return <Status of={loaded}>{null}</Status>;
  const { deviceCount, endsCopies, fetchUntilMs, why } = preview;
  const others = Math.max(0, deviceCount - (hwid === null ? 0 : 1));
  return (
    <>
      {hwid !== null && <p>{words.cutBars}</p>}
      {why === null ? (
        <p>{words.cutEffect(others, time(fetchUntilMs))}</p>
      ) : (
        <p class="problem">
          {words.cutImpossible} <bdi dir="ltr">{why}</bdi>
        </p>
      )}
      {!endsCopies && <p class="hint">{words.cutCopied}</p>}
    </>
  );
}

/** The button that asks whether a link is cut off. */
export function CutOff({ at, id, acts, hwid }: CutOffProps) {
  const words = texts.link;
  const label = hwid === null ? words.cutOff : words.cutDevice;
  const ask = () => call('cuts.ask', { at, linkId: id, hwid });
  return (
    <Ask
      label={label}
      title={hwid === null ? words.cutOff : words.cutDevice}
      onYes={async () => {
        await ask();
        await acts.run(async () => undefined);
      }}
    >
      <Effect at={at} id={id} hwid={hwid} />
    </Ask>
  );
}

function CutRow({ at, cut, onChange, shown }: RowProps & { cut: Cut }) {
  const words = texts.link;
  const { askedAtMs, fetchUntilMs, id, state, waitingCount, why } = cut;
  const write = () => {
    beginMessage({
      body: words.cutMessage,
      hwids: shown.devices.map(({ hwid }) => hwid).join(','),
    });
    go('/console/compose');
  };
  return (
    <li>
      <div class="device">
        <span>
          {words.cutStates[state]} · {time(askedAtMs)}
        </span>
        {why !== null && (
          <bdi class="hint" dir="ltr">
            {why}
          </bdi>
        )}
        {waitingCount > 0 && fetchUntilMs !== null && (
          <span>{words.cutToFetch(waitingCount, time(fetchUntilMs))}</span>
        )}
      </div>
      <div class="actions">
        {state === 'waiting' && may('cuts.cancel') && (
          <Button
            label={texts.common.cancel}
            onClick={() => onChange(() => call('cuts.cancel', { at, id }))}
          />
        )}
        {(state === 'waiting' || waitingCount > 0) &&
          shown.devices.length > 0 &&
          may('send.notification') && <Button label={words.cutWrite} onClick={write} />}
      </div>
    </li>
  );
}

interface RowProps {
  at: string;
  shown: Shown;
  onChange: (work: () => Promise<unknown>) => Promise<void>;
}

/** The cut-offs and bars of a link; nothing if it has neither. */
export function Cuts({ at, acts, shown }: { at: string; acts: Acts; shown: Shown }) {
  const words = texts.link;
  const { id: linkId } = shown;
  const loaded = useLoaded(
    async (signal) => ({
      cuts: await call('cuts.list', { at, linkId }, signal),
      bars: await call('bars.list', { at, linkId }, signal),
    }),
    // Each action on the link loads it again.
    `${linkId} ${shown.nowMs}`,
  );
  const { bars = [], cuts = [] } = loaded.value.value ?? {};
  const onChange = (work: () => Promise<unknown>) => acts.run(work);
  if (cuts.length + bars.length === 0) return null;
  return (
    <section>
      <h3>{words.cuts}</h3>
      <ul class="list">
        {cuts.slice(0, SHOWN_MAX).map((cut) => (
          <CutRow key={cut.id} at={at} cut={cut} shown={shown} onChange={onChange} />
        ))}
        {bars.map(({ hwidHash, untilMs }) => (
          <li key={hwidHash}>
            <div class="device">
              <bdi class="code">{`sha256:${hwidHash.slice(0, 12)}…`}</bdi>
              <span class="hint">{words.barred(time(untilMs))}</span>
            </div>
            {may('bars.lift') && (
              <Button
                label={words.lift}
                onClick={() => onChange(() => call('bars.lift', { at, linkId, hwidHash }))}
              />
            )}
          </li>
        ))}
      </ul>
      {bars.length > 1 && <p class="hint">{words.barsOf(bars.length)}</p>}
    </section>
  );
}
