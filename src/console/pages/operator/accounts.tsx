/** The accounts of operators and observers: invitations, changes, removals and recovery. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Ask } from '../../parts/dialog.tsx';
import { Field, Form } from '../../parts/form.tsx';
import { time } from '../../parts/format.ts';
import { Card, Title } from '../../parts/layout.tsx';
import { Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { Invite, Role, waysOf } from '../../parts/people.tsx';
import { Secret } from '../../parts/secret.tsx';
import { Problem, useWork } from '../../parts/work.tsx';
import { may, texts } from '../../state.ts';

type Member = Got<'accounts.list'>[number];
type ApplianceRole = Given<'accounts.invite'>['role'];

const ROLES: readonly ApplianceRole[] = ['operator', 'observer'];

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
        <bdi>{name}</bdi> <small class="hint">{texts.common.numbered(`${id}`)}</small>{' '}
        {isThis && <span class="badge">{words.you}</span>}
      </th>
      <td>
        {may('accounts.change-role') ? (
          <Role
            name={name}
            role={role}
            roles={ROLES}
            names={words.roles}
            onChoice={(one) => run(() => call('accounts.change-role', { id, role: one }))}
          />
        ) : (
          words.roles[role as ApplianceRole]
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

/** Recovers an account by its name, also one of a provider's staff. */
function Rescue() {
  const words = texts.accounts;
  const address = useSignal<string | null>(null);
  const ended = useSignal<number | null>(null);
  return (
    <Card title={words.rescue} hint={words.rescueHint}>
      <Form
        submit={words.endSessions}
        keeps
        onSubmit={async ({ name = '' }) => {
          ended.value = null;
          ended.value = (await call('accounts.end-sessions', { name })).count;
        }}
      >
        <Field label={texts.common.name} name="name" maxLength={64} autocomplete="off" required />
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
          <Field label={texts.common.name} name="name" maxLength={64} autocomplete="off" required />
        </Form>
        {address.value !== null && <Secret text={address.value} hint={words.entryHint} />}
      </details>
    </Card>
  );
}

export function AccountsPage() {
  const words = texts.accounts;
  const loaded = useLoaded((signal) => call('accounts.list', {}, signal), '');
  const { problem, run: work } = useWork();
  const run: RowProps['run'] = async (change) => {
    await work(change);
    await loaded.load();
  };
  return (
    <>
      <Title name={words.title} />
      <p class="hint">{words.what}</p>
      <Problem of={problem} />
      <Status of={loaded}>
        <Table
          heads={[
            ...[texts.common.name, texts.staff.role, texts.staff.signsIn],
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
          <Card title={texts.staff.invite}>
            <Invite
              roles={ROLES}
              names={words.roles}
              rights={words.rights}
              invite={(role) => call('accounts.invite', { role })}
            />
          </Card>
          <Rescue />
        </div>
      )}
    </>
  );
}
