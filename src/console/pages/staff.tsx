/** The staff of a provider, and its keys for parts of the API. */

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Given, Got } from '../../http/console/table.ts';
import { call } from '../call.ts';
import { keepFocus } from '../parts/focus.ts';
import { Field, Form, Select } from '../parts/form.tsx';
import { date, time } from '../parts/format.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { Ask, Problem, Table } from '../parts/operator.tsx';
import { Secret } from '../parts/secret.tsx';
import { texts, wordsFor } from '../state.ts';

type Member = Got<'staff.list'>[number];
type Key = Got<'keys.list'>[number];
type Role = Given<'staff.invite'>['role'];
type Scope = Given<'keys.add'>['scope'];

const ROLES: readonly Role[] = ['owner', 'sender', 'support', 'reader'];
const SCOPES: readonly Scope[] = ['read', 'links', 'send'];
/** Lifetimes of keys to choose from, days; 0: no end. */
const KEY_DAYS = [30, 90, 365, 0] as const;

interface SectionProps {
  title: string;
  hint: string;
  children: ComponentChildren;
}

function Section({ title, hint, children }: SectionProps) {
  return (
    <section class="card">
      <div>
        <h2>{title}</h2>
        <p class="hint">{hint}</p>
      </div>
      {children}
    </section>
  );
}

function Invite({ at }: { at: string }) {
  const address = useSignal<string | null>(null);
  const words = texts.staff;
  return (
    <>
      <Form
        submit={words.invite}
        onSubmit={async ({ role }) => {
          const { secret } = await call('staff.invite', { at, role: role as Role });
          address.value = `${location.origin}/console#invitation=${secret}`;
        }}
      >
        <Select
          label={words.role}
          name="role"
          options={ROLES.map((role) => [role, words.roles[role]])}
          value="support"
        />
        <ul class="roles">
          {ROLES.map((role) => (
            <li key={role}>
              <strong>{words.roles[role]}</strong>: {words.rights[role]}
            </li>
          ))}
        </ul>
      </Form>
      {address.value !== null && <Secret text={address.value} hint={words.invitationHint} />}
    </>
  );
}

interface MemberRowProps {
  at: string;
  member: Member;
  onChange: (change: () => Promise<unknown>) => Promise<void>;
  /** Removes the member; shows its refusal itself. */
  onGone: (change: () => Promise<unknown>) => Promise<void>;
}

function MemberRow({ at, member, onChange, onGone }: MemberRowProps) {
  const { hasPassword, hasTotp, id, name, passkeyCount, role, signedInAtMs } = member;
  const words = texts.staff;
  const ways = [
    ...(passkeyCount > 0 ? [words.byPasskey] : []),
    ...(hasPassword ? [hasTotp ? words.byBoth : words.byPassword] : []),
  ];
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td>
        <select
          aria-label={words.roleOf(name)}
          value={role}
          onChange={({ currentTarget }) => {
            const given = { at, id, role: currentTarget.value as Role };
            return onChange(() => call('staff.change-role', given));
          }}
        >
          {ROLES.map((one) => (
            <option key={one} value={one}>
              {words.roles[one]}
            </option>
          ))}
        </select>
      </td>
      <td>{ways.length === 0 ? words.byNothing : ways.join(', ')}</td>
      <td class="number" data-name={words.lastSeen}>
        {signedInAtMs === null ? words.never : time(signedInAtMs)}
      </td>
      <td class="row-actions">
        <Ask
          label={words.remove}
          title={words.sureMember(name)}
          onYes={() => onGone(() => call('staff.remove', { at, id }))}
        >
          <p>{words.sureMemberHint}</p>
        </Ask>
      </td>
    </tr>
  );
}

function Staff({ at }: { at: string }) {
  const problem = useSignal<string | null>(null);
  const loaded = useLoaded((signal) => call('staff.list', { at }, signal), at);
  const words = texts.staff;
  const onChange: MemberRowProps['onChange'] = async (change) => {
    problem.value = await change().then(() => null, wordsFor);
    await loaded.load();
  };
  const onGone: MemberRowProps['onGone'] = async (change) => {
    await change();
    await loaded.load();
    keepFocus();
  };
  return (
    <Section title={words.people} hint={words.peopleHint}>
      <Status of={loaded}>
        {loaded.value.value?.length === 0 ? (
          <p class="hint">{words.noneYet}</p>
        ) : (
          <Table heads={[words.name, words.role, words.signsIn, words.lastSeen, '']}>
            {loaded.value.value?.map((member) => (
              <MemberRow
                key={`${member.id} ${member.role}`}
                {...{ at, member, onChange, onGone }}
              />
            ))}
          </Table>
        )}
      </Status>
      <Problem of={problem} />
      <Invite at={at} />
    </Section>
  );
}

function AddKey({ at, onAdded }: { at: string; onAdded: () => Promise<void> }) {
  const made = useSignal<string | null>(null);
  const words = texts.staff;
  return (
    <>
      <Form
        submit={words.addKey}
        onSubmit={async ({ name = '', scope, days }) => {
          const given = { at, name, scope: scope as Scope, days: Number(days) || null };
          made.value = (await call('keys.add', given)).authKey;
          await onAdded();
        }}
      >
        <Field label={words.name} hint={words.keyNameHint} name="name" maxLength={64} required />
        <Select
          label={words.scope}
          name="scope"
          options={SCOPES.map((scope) => [scope, words.scopes[scope]])}
          value="read"
        />
        <Select
          label={words.ends}
          name="days"
          options={KEY_DAYS.map((days) => [
            String(days),
            days === 0 ? words.noEnd : words.in(days),
          ])}
          value="365"
        />
      </Form>
      {made.value !== null && <Secret text={made.value} hint={words.keyOnce} />}
    </>
  );
}

function KeyRow({ of, onRemove }: { of: Key; onRemove: () => Promise<void> }) {
  const { createdAtMs, name, scope, untilMs } = of;
  const words = texts.staff;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
      </th>
      <td>{words.scopes[scope]}</td>
      <td class="number" data-name={words.made}>
        {date(createdAtMs)}
      </td>
      <td class="number" data-name={words.ends}>
        {untilMs === null ? words.noEnd : date(untilMs)}
      </td>
      <td class="row-actions">
        <Ask label={words.remove} title={words.sureKey(name)} onYes={onRemove}>
          <p>{words.sureKeyHint}</p>
        </Ask>
      </td>
    </tr>
  );
}

function Keys({ at }: { at: string }) {
  const loaded = useLoaded((signal) => call('keys.list', { at }, signal), at);
  const words = texts.staff;
  const remove = async (id: number) => {
    await call('keys.remove', { at, id });
    await loaded.load();
    keepFocus();
  };
  return (
    <Section title={words.keys} hint={words.keysHint}>
      <Status of={loaded}>
        {loaded.value.value && loaded.value.value.length > 0 && (
          <Table heads={[words.name, words.scope, words.made, words.ends, '']}>
            {loaded.value.value.map((one) => (
              <KeyRow key={one.id} of={one} onRemove={() => remove(one.id)} />
            ))}
          </Table>
        )}
      </Status>
      <AddKey at={at} onAdded={loaded.load} />
    </Section>
  );
}

export function StaffPage({ at }: { at: string }) {
  return (
    <>
      <div class="title">
        <h1>{texts.staff.title}</h1>
      </div>
      <Staff at={at} />
      <Keys at={at} />
    </>
  );
}
