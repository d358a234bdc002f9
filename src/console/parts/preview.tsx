/** Parts of previews: examples of links, the length, and the list of placeholders. */

import type { Got } from '../../call/table.ts';
import { texts } from '../state.ts';
import { number } from './format.ts';
import { Phone } from './phone.tsx';
import { Share } from './share.tsx';

type Preview = Got<'send.preview'>;

/** The placeholders with what they stand for. */
export function Placeholders() {
  const words = texts.compose;
  return (
    <>
      <p>{words.fillHint}</p>
      <ul>
        {Object.entries(words.placeholders).map(([name, about]) => (
          <li key={name}>
            <bdi class="code">{`{${name}}`}</bdi> {about}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The message as the devices of some links get it. */
export function Examples({ of }: { of: Preview['examples'] }) {
  return (
    <>
      {of.map((one) => (
        <section key={one.id}>
          <h2>{texts.compose.exampleOf(number(one.id))}</h2>
          {one.texts.map((text) => (
            <Phone key={text.locale} of={text} />
          ))}
        </section>
      ))}
    </>
  );
}

export function Bytes({ of }: { of: Preview }) {
  const share = of.bytes / of.bytesMax;
  const words = texts.compose;
  const say = of.isFilled ? words.bytesAtMost : words.bytes;
  return (
    <div class="bytes">
      <Share of={share} isHigh={share > 0.9} />
      <span class="number">{say(number(of.bytes), number(of.bytesMax))}</span>
    </div>
  );
}
