/** The form fields of a provider's terms. */

import type { Given, Got } from '../../http/console/table.ts';
import { texts } from '../state.ts';
import { Field, Select } from './form.tsx';
import { day, number } from './format.ts';

type Plan = Given<'providers.add'>['plan'];
type Shown = Got<'providers.show'>;

/** Names of plans, the same in each language. */
export const PLAN_NAMES: Readonly<Record<Plan, string>> = {
  basic: 'Basic',
  pro: 'Pro',
  enterprise: 'Enterprise',
};

export const lastDayText = (lastDay: string | null) =>
  lastDay === null
    ? texts.providers.noEnd
    : `${day(lastDay)} ${new Intl.DateTimeFormat(texts.tag, { year: 'numeric', timeZone: 'UTC' }).format(Date.parse(lastDay))}`;

type Typed = Readonly<Record<string, string>>;

/** Reads a number; an empty field means the value for all providers. */
const wholeIn = (typed: string | undefined) =>
  typed === undefined || typed === '' ? null : Number(typed);
const wordIn = (typed: string | undefined) => typed || null;

/** Reads the fields of {@link TermFields}. */
export const termsIn = ({ name = '', plan, lastDay, cap }: Typed) => ({
  name,
  plan: plan as Plan,
  lastDay: wordIn(lastDay),
  linkCountMax: wholeIn(cap),
});

/** Reads the fields of {@link PolicyFields}. */
export const policyIn = ({ coolDown, enforce, inactiveDays, ...words }: Typed) => ({
  inactiveDays: wholeIn(inactiveDays),
  whenFull: wordIn(words['whenFull']) as Shown['own']['whenFull'],
  coolDownHours: wholeIn(coolDown),
  enforce: wholeIn(enforce),
  withoutHwid: wordIn(words['withoutHwid']) as Shown['own']['withoutHwid'],
  samePhone: wordIn(words['samePhone']) as Shown['own']['samePhone'],
});

/** Reads the fields of {@link RideFields}. */
export const ridesIn = ({ buttons, ride, rideDesktop, supportUrl, webPageUrl }: Typed) => ({
  ride: wordIn(ride) as Shown['rides']['ride'],
  rideDesktop: Number(rideDesktop),
  supportUrl: wordIn(supportUrl),
  webPageUrl: wordIn(webPageUrl),
  buttons: wordIn(buttons) as Shown['rides']['buttons'],
});

const textOf = (value: number | string | null | undefined) => String(value ?? '');

export function TermFields({ of }: { of?: Shown }) {
  const words = texts.providers;
  return (
    <>
      <Field
        label={texts.common.name}
        name="name"
        maxLength={255}
        dir="auto"
        defaultValue={of?.name ?? ''}
        required
      />
      <Select
        label={texts.common.plan}
        name="plan"
        options={Object.entries(PLAN_NAMES)}
        value={of?.plan ?? 'enterprise'}
      />
      <Field
        label={words.lastDay}
        hint={words.lastDayHint}
        name="lastDay"
        type="date"
        max="9999-12-30"
        defaultValue={textOf(of?.lastDay)}
      />
      <Field
        label={words.cap}
        {...(of && { hint: words.capHint(number(of.linkCountDefault)) })}
        name="cap"
        type="number"
        min={0}
        max={999_999_999}
        defaultValue={textOf(of?.linkCountMax)}
      />
    </>
  );
}

export function PolicyFields({ of }: { of: Shown['own'] }) {
  const words = texts.providers;
  const usual = ['', words.usual] as const;
  const { off, on } = words.enforceWords;
  return (
    <>
      <Field
        label={words.inactiveDays}
        hint={words.inactiveHint}
        name="inactiveDays"
        type="number"
        min={0}
        max={3_650}
        defaultValue={textOf(of.inactiveDays)}
      />
      <Select
        label={words.whenFull}
        name="whenFull"
        options={[usual, ...Object.entries(words.whenFullWords)]}
        value={textOf(of.whenFull)}
      />
      <Field
        label={words.coolDown}
        hint={words.coolDownHint}
        name="coolDown"
        type="number"
        min={1}
        max={720}
        defaultValue={textOf(of.coolDownHours)}
      />
      <Select
        label={words.enforce}
        name="enforce"
        options={[usual, ['1', on], ['0', off]]}
        value={textOf(of.enforce)}
      />
      <Select
        label={words.withoutHwid}
        name="withoutHwid"
        options={[usual, ...Object.entries(words.withoutHwidWords)]}
        value={textOf(of.withoutHwid)}
      />
      <Select
        label={words.samePhone}
        name="samePhone"
        options={[usual, ...Object.entries(words.samePhoneWords)]}
        value={textOf(of.samePhone)}
      />
    </>
  );
}

/** The fields of headers that ride on subscriptions, and of their buttons. */
export function RideFields({ of }: { of: Shown['rides'] }) {
  const words = texts.providers;
  const { no, yes } = words.rideDesktopWords;
  const url = { type: 'url', dir: 'ltr', maxLength: 255, placeholder: 'https://' } as const;
  return (
    <>
      <Select
        label={words.ride}
        name="ride"
        options={[['', words.rideUsual], ...Object.entries(words.rideWords)]}
        value={textOf(of.ride)}
      />
      <Select
        label={words.rideDesktop}
        name="rideDesktop"
        options={[
          ['0', no],
          ['1', yes],
        ]}
        value={textOf(of.rideDesktop)}
      />
      <Field
        label={words.supportUrl}
        hint={words.buttonHint}
        name="supportUrl"
        {...url}
        defaultValue={textOf(of.supportUrl)}
      />
      <Field
        label={words.webPageUrl}
        hint={words.buttonHint}
        name="webPageUrl"
        {...url}
        defaultValue={textOf(of.webPageUrl)}
      />
      <Select
        label={words.buttons}
        name="buttons"
        options={[['', words.buttonsMissing], ...Object.entries(words.buttonsWords)]}
        value={textOf(of.buttons)}
      />
    </>
  );
}
