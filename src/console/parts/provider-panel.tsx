/** The panel of a provider: its terms, its rules, its key, and its removal. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Given, Got } from '../../call/table.ts';
import { call, Refusal } from '../call.ts';
import { go, may, texts } from '../state.ts';
import { Button } from './button.tsx';
import { Dialog, useDialog } from './dialog.tsx';
import { Form, Select } from './form.tsx';
import { date, number, time } from './format.ts';
import { Facts, Panel } from './layout.tsx';
import { Status, useLoaded } from './loaded.tsx';
import {
  lastDayText,
  PLAN_NAMES,
  PolicyFields,
  policyIn,
  RideFields,
  ridesIn,
  TermFields,
  termsIn,
} from './provider-form.tsx';
import { ShownOnce } from './provider-new.tsx';
import { Problem, useWork } from './work.tsx';

type Shown = Got<'providers.show'>;

/** How long an old key stays valid, hours. */
const KEEP_HOURS = [0, 1, 24, 72, 168] as const;

interface PartProps {
  shown: Shown;
  /** Reloads the panel. */
  again: () => Promise<void>;
}

function Rotate({ shown, again }: PartProps) {
  const dialog = useDialog();
  const made = useSignal<Got<'providers.rotate'> | null>(null);
  const words = texts.providers;
  const open = () => {
    made.value = null;
    dialog.open();
  };
  return (
    <>
      <Button label={words.rotate} onClick={open} />
      <Dialog of={dialog} title={words.rotate}>
        {made.value === null ? (
          <Form
            submit={words.rotate}
            onSubmit={async ({ hours }) => {
              const given = { code: shown.code, keepOldHours: Number(hours) };
              made.value = await call('providers.rotate', given);
              await again();
            }}
            beside={<Button label={texts.common.cancel} onClick={dialog.close} />}
          >
            <Select
              label={words.keepOld}
              name="hours"
              options={KEEP_HOURS.map((n) => [String(n), n === 0 ? words.atOnce : words.hours(n)])}
              value="24"
            />
          </Form>
        ) : (
          <div class="form">
            <ShownOnce of={made.value} />
            <p>{words.endedByRotation(made.value.sessionCount, made.value.invitationCount)}</p>
            <div class="actions">
              <Button label={texts.common.close} onClick={dialog.close} />
            </div>
          </div>
        )}
      </Dialog>
    </>
  );
}

function Remove({ shown, onGone }: { shown: Shown; onGone: () => void }) {
  const dialog = useDialog();
  const words = texts.providers;
  const { code, linkCount, name } = shown;
  const isBusy = useSignal(false);
  return (
    <>
      <Button label={words.remove} onClick={dialog.open} />
      <Dialog of={dialog} title={words.sure(name)}>
        <Form
          submit={words.remove}
          beside={<Button label={texts.common.cancel} onClick={dialog.close} />}
          onSubmit={async ({ typed }) => {
            if (typed !== code) throw new Refusal('wrong_code', words.wrongCode);
            isBusy.value = true;
            try {
              await call('providers.remove', { code });
            } finally {
              isBusy.value = false;
            }
            onGone();
          }}
        >
          <p>{words.sureHint(linkCount)}</p>
          <div class="field">
            <label for="remove-code">{words.typeCode(code)}</label>
            <input id="remove-code" name="typed" maxLength={8} autocomplete="off" required />
          </div>
          <p role="status" class="hint" hidden={!isBusy.value}>
            {isBusy.value && words.removing}
          </p>
        </Form>
      </Dialog>
    </>
  );
}

type Change = Omit<Given<'providers.edit'>, 'code'>;

interface EditProps extends PartProps {
  title: string;
  hint?: string;
  /** Reads the fields. */
  read: (typed: Record<string, string>) => Change;
  children: ComponentChildren;
}

/** Some terms of the provider in a form. */
function Edit({ shown, again, title, hint, read, children }: EditProps) {
  return (
    <details>
      <summary>{title}</summary>
      <Form
        key={shown.code}
        submit={texts.common.save}
        done={texts.common.saved}
        keeps
        onSubmit={async (typed) => {
          await call('providers.edit', { code: shown.code, ...read(typed) });
          await again();
        }}
      >
        {hint && <p class="hint">{hint}</p>}
        {children}
      </Form>
    </details>
  );
}

function Edits({ shown, again }: PartProps) {
  const words = texts.providers;
  return (
    <>
      <Edit shown={shown} again={again} title={texts.common.change} read={termsIn}>
        <TermFields of={shown} />
      </Edit>
      <Edit
        shown={shown}
        again={again}
        title={words.policy}
        hint={words.policyHint}
        read={policyIn}
      >
        <PolicyFields of={shown.own} />
      </Edit>
      <Edit shown={shown} again={again} title={words.rides} hint={words.ridesHint} read={ridesIn}>
        <RideFields of={shown.rides} />
      </Edit>
    </>
  );
}

function factsOf(shown: Shown) {
  const words = texts.providers;
  const { createdAtMs, lastDay, linkCount, linkCountDefault, linkCountMax, oldKeyUntilMs } = shown;
  const cap = number(linkCountMax ?? linkCountDefault);
  return [
    [texts.common.plan, PLAN_NAMES[shown.plan]],
    [words.until, lastDayText(lastDay)],
    [texts.shell.links, words.ofCap(number(linkCount), cap)],
    [words.made, date(createdAtMs)],
    ...(oldKeyUntilMs === null ? [] : [[words.oldKeyUntil, time(oldKeyUntilMs)] as const]),
  ] as const;
}

interface PanelProps {
  code: string;
  onClose: () => void;
  /** Called after a change. */
  onChange: () => void;
}

export function ProviderPanel({ code, onClose, onChange }: PanelProps) {
  const { problem, run } = useWork();
  const loaded = useLoaded((signal) => call('providers.show', { code }, signal), code);
  const shown = loaded.value.value;
  const words = texts.providers;
  const again = async () => {
    onChange();
    await loaded.load();
  };
  const suspend = async (isSuspended: boolean) => {
    await run(() => call('providers.edit', { code, isSuspended }));
    await again();
  };
  const title = (
    <>
      <bdi>{shown?.name}</bdi> <bdi class="code">{code}</bdi>
    </>
  );
  const isOff = shown !== null && shown.suspendedAtMs !== null;
  return (
    <Panel title={title} onClose={onClose}>
      <Problem of={problem} />
      <Status of={loaded}>
        {shown && (
          <>
            <Facts of={factsOf(shown)} />
            <div class="form">
              <div class="actions">
                <Button
                  label={words.act}
                  class="main"
                  onClick={() => go('/console', { at: code })}
                />
                {may('providers.edit') && (
                  <Button
                    label={isOff ? words.resume : words.suspend}
                    onClick={() => suspend(!isOff)}
                  />
                )}
                {may('providers.rotate') && <Rotate shown={shown} again={again} />}
                {may('providers.remove') && (
                  <Remove
                    shown={shown}
                    onGone={() => {
                      onChange();
                      onClose();
                    }}
                  />
                )}
              </div>
              <p class="hint">{words.actHint}</p>
            </div>
            {may('providers.edit') && <Edits shown={shown} again={again} />}
          </>
        )}
      </Status>
    </Panel>
  );
}
