/** The staff of a provider, its keys for parts of the API, and its bots. */

import type { Given, Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Ask } from '../parts/dialog.tsx';
import { keepFocus } from '../parts/focus.ts';
import { Field, Select } from '../parts/form.tsx';
import { date, time } from '../parts/format.ts';
import { Card, Title } from '../parts/layout.tsx';
import { Table } from '../parts/list.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { Invite, Role, waysOf } from '../parts/people.tsx';
import { Secrets } from '../parts/secrets.tsx';
import { Problem, useWork } from '../parts/work.tsx';
import { texts } from '../state.ts';

type Member = Got<'staff.list'>[number];
type StaffRole = Given<'staff.invite'>['role'];
type Scope = Given<'keys.add'>['scope'];

const ROLES: readonly StaffRole[] = ['owner', 'sender', 'support', 'reader'];
/** Lifetimes of keys to choose from, days; 0: no end. */
const KEY_DAYS = [30, 90, 365, 0] as const;

interface MemberRowProps {
  at: string;
  member: Member;
  onChange: (change: () => Promise<unknown>) => Promise<void>;
  /** Removes the member; shows its refusal itself. */
  onGone: (change: () => Promise<unknown>) => Promise<void>;
}

function MemberRow({ at, member, onChange, onGone }: MemberRowProps) {
  const { id, name, role, signedInAtMs } = member;
  const words = texts.staff;
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi> <small class="hint">{texts.common.numbered(`${id}`)}</small>
      </th>
      <td>
        <Role
          name={name}
          role={role}
          roles={ROLES}
          names={words.roles}
          onChoice={(one) => onChange(() => call('staff.change-role', { at, id, role: one }))}
        />
      </td>
      <td>{waysOf(member)}</td>
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
  const { problem, run } = useWork();
  const loaded = useLoaded((signal) => call('staff.list', { at }, signal), at);
  const words = texts.staff;
  const onChange: MemberRowProps['onChange'] = async (change) => {
    await run(change);
    await loaded.load();
  };
  const onGone: MemberRowProps['onGone'] = async (change) => {
    await change();
    await loaded.load();
    keepFocus();
  };
  return (
    <Card title={words.people} hint={words.peopleHint}>
      <Status of={loaded}>
        {loaded.value.value?.length === 0 ? (
          <p class="hint">{words.noneYet}</p>
        ) : (
          <Table heads={[texts.common.name, words.role, words.signsIn, words.lastSeen, '']}>
            {loaded.value.value?.map((member) => (
              <MemberRow
                key={`${member.id} ${member.role}`}
                at={at}
                member={member}
                onChange={onChange}
                onGone={onGone}
              />
            ))}
          </Table>
        )}
      </Status>
      <Problem of={problem} />
      <Invite
        roles={ROLES}
        names={words.roles}
        rights={words.rights}
        invite={(role) => call('staff.invite', { at, role })}
      />
    </Card>
  );
}

function Keys({ at }: { at: string }) {
  const words = texts.staff;
  return (
    <Secrets
      at={at}
      title={words.keys}
      hint={words.keysHint}
      heads={[words.scope, words.made, words.ends]}
      list={(signal) => call('keys.list', { at }, signal)}
      cells={({ createdAtMs, scope, untilMs }) => (
        <>
          <td>{words.scopes[scope]}</td>
          <td class="number" data-name={words.made}>
            {date(createdAtMs)}
          </td>
          <td class="number" data-name={words.ends}>
            {untilMs === null ? words.noEnd : date(untilMs)}
          </td>
        </>
      )}
      sure={words.sureKey}
      remove={(id) => call('keys.remove', { at, id })}
      submit={words.addKey}
      once={words.keyOnce}
      add={async ({ name = '', scope, days }) => {
        const given = { at, name, scope: scope as Scope, days: Number(days) || null };
        return (await call('keys.add', given)).authKey;
      }}
    >
      <Field
        label={texts.common.name}
        hint={words.keyNameHint}
        name="name"
        maxLength={64}
        required
      />
      <Select
        label={words.scope}
        name="scope"
        options={Object.entries(words.scopes)}
        value="read"
      />
      <Select
        label={words.ends}
        name="days"
        options={KEY_DAYS.map((days) => [String(days), days === 0 ? words.noEnd : words.in(days)])}
        value="365"
      />
    </Secrets>
  );
}

/** The bots that fetch subscriptions for their customers. */
function Bots({ at }: { at: string }) {
  const words = texts.staff;
  return (
    <Secrets
      at={at}
      title={words.bots}
      hint={words.botsHint}
      heads={[texts.domains.host, words.made]}
      list={(signal) => call('bots.list', { at }, signal)}
      cells={({ createdAtMs, host }) => (
        <>
          <td>
            <bdi>{host}</bdi>
          </td>
          <td class="number" data-name={words.made}>
            {date(createdAtMs)}
          </td>
        </>
      )}
      sure={words.sureBot}
      remove={(id) => call('bots.remove', { at, id })}
      submit={words.addBot}
      once={words.botOnce}
      add={async ({ name = '', host = '' }) => (await call('bots.add', { at, name, host })).secret}
    >
      <Field label={texts.common.name} name="name" maxLength={64} required />
      <Field
        label={texts.domains.host}
        hint={words.botHostHint}
        name="host"
        maxLength={253}
        required
      />
    </Secrets>
  );
}

export function StaffPage({ at }: { at: string }) {
  return (
    <>
      <Title name={texts.staff.title} />
      <Staff at={at} />
      <Keys at={at} />
      <Bots at={at} />
    </>
  );
}
