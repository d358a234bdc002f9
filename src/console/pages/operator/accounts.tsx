/** The accounts of operators and observers: invitations, changes, removals and recovery. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../../http/console/table.ts';
import { call } from '../../call.ts';
import { Field, Form, Select } from '../../parts/form.tsx';
import { time } from '../../parts/format.ts';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { Ask, Problem, Table } from '../../parts/operator.tsx';
import { Secret } from '../../parts/secret.tsx';
import { may, texts, wordsFor } from '../../state.ts';

type Member = Got<'accounts.list'>[number];
type Role = Given<'accounts.invite'>['role'];

const ROLES: readonly Role[] = ['operator', 'observer'];

function waysOf({ hasPassword, hasTotp, passkeyCount }: Member): string {
  const words = texts.staff;
  const ways = [
    ...(passkeyCount > 0 ? [words.byPasskey] : []),
    ...(hasPassword ? [hasTotp ? words.byBoth : words.byPassword] : []),
  ];
  return ways.length === 0 ? words.byNothing : ways.join(', ');
}

interface RowProps {
  member: Member;
  run: (work: () => Promise<unknown>) => Promise<void>;
}

function Row({ member, run }: RowProps) {
  const words = texts.accounts;
  const { id, isThis, name, role, signedInAtMs } = member;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi> {isThis && <span class="badge">{words.you}</span>}
      </th>
      <td>
        {may('accounts.change-role') ? (
          <select
            aria-label={texts.staff.roleOf(name)}
            value={role}
            onChange={({ currentTarget: { value } }) =>
              run(() => call('accounts.change-role', { id, role: value as Role }))
            }
          >
            {ROLES.map((one) => (
              <option key={one} value={one}>
                {words.roles[one]}
              </option>
            ))}
          </select>
        ) : (
          words.roles[role as Role]
        )}
      </td>
      <td>{waysOf(member)}</td>
      <td class="number">{signedInAtMs === null ? texts.staff.never : time(signedInAtMs)}</td>
      <td class="row-actions">
        {may('accounts.remove') && (
          <Ask
            label={texts.staff.remove}
            title={words.removeSure(name)}
            onYes={async () => {
              await call('accounts.remove', { id });
              await run(async () => undefined);
            }}
          >
            <p>{words.removeHint}</p>
          </Ask>
        )}
      </td>
    </tr>
  );
}

function Invite() {
  const words = texts.accounts;
  const address = useSignal<string | null>(null);
  return (
    <section class="card">
      <h2>{texts.staff.invite}</h2>
      <Form
        submit={texts.staff.invite}
        onSubmit={async ({ role }) => {
          const { secret } = await call('accounts.invite', { role: role as Role });
          address.value = `${location.origin}/console#invitation=${secret}`;
        }}
      >
        <Select
          label={texts.staff.role}
          name="role"
          options={ROLES.map((role) => [role, words.roles[role]])}
          value="observer"
        />
        <ul class="roles">
          {ROLES.map((role) => (
            <li key={role}>
              <strong>{words.roles[role]}</strong>: {words.rights[role]}
            </li>
          ))}
        </ul>
      </Form>
      {address.value !== null && <Secret text={address.value} hint={texts.staff.invitationHint} />}
    </section>
  );
}

/** Recovers an account by its name, also one of a provider's staff. */
function Rescue() {
  const words = texts.accounts;
  const address = useSignal<string | null>(null);
  const ended = useSignal<number | null>(null);
  return (
    <section class="card">
      <div>
        <h2>{words.rescue}</h2>
        <p class="hint">{words.rescueHint}</p>
      </div>
      <Form
        submit={words.endSessions}
        keeps
        onSubmit={async ({ name = '' }) => {
          ended.value = null;
          ended.value = (await call('accounts.end-sessions', { name })).count;
        }}
      >
        <Field label={texts.staff.name} name="name" maxLength={64} autocomplete="off" required />
        {ended.value !== null && <p role="status">{words.ended(ended.value)}</p>}
      </Form>
      <details>
        <summary>{words.reset}</summary>
        <Form
          submit={words.reset}
          onSubmit={async ({ name = '' }) => {
            address.value = null;
            const { secret } = await call('accounts.reset', { name });
            address.value = `${location.origin}/console#entry=${secret}`;
          }}
        >
          <p class="hint">{words.resetHint}</p>
          <Field label={texts.staff.name} name="name" maxLength={64} autocomplete="off" required />
        </Form>
        {address.value !== null && <Secret text={address.value} hint={words.entryHint} />}
      </details>
    </section>
  );
}

export function AccountsPage() {
  const words = texts.accounts;
  const loaded = useLoaded((signal) => call('accounts.list', {}, signal), '');
  const problem = useSignal<string | null>(null);
  const run: RowProps['run'] = async (work) => {
    problem.value = await work().then(() => null, wordsFor);
    await loaded.load();
  };
  return (
    <>
      <div class="title">
        <h1>{words.title}</h1>
      </div>
      <p class="hint">{words.what}</p>
      <Problem of={problem} />
      <Status of={loaded}>
        <Table
          heads={[
            ...[texts.staff.name, texts.staff.role, texts.staff.signsIn],
            ...[texts.staff.lastSeen, ''],
          ]}
        >
          {loaded.value.value?.map((member) => (
            <Row key={`${member.id} ${member.role}`} member={member} run={run} />
          ))}
        </Table>
      </Status>
      {may('accounts.invite') && (
        <div class="columns">
          <Invite />
          <Rescue />
        </div>
      )}
    </>
  );
}
