/** The three steps to the first device; completed ones are ticked. */

import type { Got } from '../../call/table.ts';
import { go, texts } from '../state.ts';
import { Button } from './button.tsx';
import { DoneIcon } from './icons.tsx';

type Setup = Got<'setup.read'>;

export const isSetUp = ({ hasDevice, hasDomain, hasLink }: Setup) =>
  hasDomain && hasLink && hasDevice;

export function SetupSteps({ setup }: { setup: Setup }) {
  const words = texts.domains;
  const steps = [
    { isDone: setup.hasDomain, what: words.bindStep, why: words.bindStepHint, to: 'domains' },
    {
      isDone: setup.hasLink,
      what: words.linkStep,
      why: words.linkStepHint,
      to: 'links',
      new: 'link',
    },
    { isDone: setup.hasDevice, what: words.openStep, why: words.openStepHint, to: 'links' },
  ];
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <ol class="steps">
      {steps.map(({ isDone, to, what, why, ...more }, n) => (
        <li
          key={what}
          class={isDone ? 'done' : undefined}
          {...(n === next && { 'aria-current': 'step' })}
        >
          <span class="step-mark" aria-hidden="true">
            {isDone ? <DoneIcon /> : n + 1}
          </span>
          <div>
            <h3>
              {what}
              {isDone && <span class="visually-hidden"> {words.done}</span>}
            </h3>
            <p class="hint">{why}</p>
          </div>
          {n === next && (
            <Button label={texts.common.goOn} onClick={() => go(`/console/${to}`, more)} />
          )}
        </li>
      ))}
    </ol>
  );
}
