/** Parts of the lists of accounts: ways of signing in, roles and invitations. */

import { useSignal } from '@preact/signals';
import { texts } from '../state.ts';
import { Dropdown } from './choice.tsx';
import { Form, Select } from './form.tsx';
import { Secret } from './secret.tsx';

interface Ways {
  hasPassword: boolean;
  hasTotp: boolean;
  passkeyCount: number;
}

/** Returns the ways of signing in of an account, as text. */
export function waysOf({ hasPassword, hasTotp, passkeyCount }: Ways): string {
  const words = texts.staff;
  const ways = [
    ...(passkeyCount > 0 ? [words.byPasskey] : []),
    ...(hasPassword ? [hasTotp ? words.byBoth : words.byPassword] : []),
  ];
  return ways.length === 0 ? words.byNothing : ways.join(', ');
}

interface Roles<R extends string> {
  /** The highest first. */
  roles: readonly R[];
  names: Readonly<Record<R, string>>;
}

interface RoleProps<R extends string> extends Roles<R> {
  /** The name of the account. */
  name: string;
  role: string;
  onChoice: (role: R) => unknown;
}

export function Role<R extends string>({ name, names, role, roles, onChoice }: RoleProps<R>) {
  return (
    <Dropdown
      label={texts.staff.roleOf(name)}
      options={roles.map((one) => [one, names[one]])}
      value={role}
      onChoice={(one) => onChoice(one as R)}
    />
  );
}

interface InviteProps<R extends string> extends Roles<R> {
  rights: Readonly<Record<R, string>>;
  invite: (role: R) => Promise<{ secret: string }>;
}

/** Makes an invitation, by default with the lowest role, and shows its address once. */
export function Invite<R extends string>({ invite, names, rights, roles }: InviteProps<R>) {
  const address = useSignal<string | null>(null);
  const words = texts.staff;
  return (
    <>
      <Form
        submit={words.invite}
        onSubmit={async ({ role }) => {
          const { secret } = await invite(role as R);
          address.value = `${location.origin}/console#invitation=${secret}`;
        }}
      >
        <Select
          label={words.role}
          name="role"
          options={roles.map((role) => [role, names[role]])}
          value={roles.at(-1) ?? ''}
        />
        <ul class="roles">
          {roles.map((role) => (
            <li key={role}>
              <strong>{names[role]}</strong>: {rights[role]}
            </li>
          ))}
        </ul>
      </Form>
      {address.value !== null && <Secret text={address.value} hint={words.invitationHint} />}
    </>
  );
}
