/** The activity: the provider's part of the audit log. */

import type { Given } from '../../call/table.ts';
import { call } from '../call.ts';
import { Entries, type Page, readEnough } from '../parts/audit-entries.tsx';
import { Choice, Dropdown } from '../parts/choice.tsx';
import { Title } from '../parts/layout.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { goHere, query, texts } from '../state.ts';

const WHO = ['account', 'provider', 'operator', 'system', 'user'] as const;
const GROUPS = ['links', 'domains', 'messages', 'people', 'webhooks'] as const;

type Filter = Pick<Given<'activity.list'>, 'at' | 'who'> & {
  group: (typeof GROUPS)[number] | null;
};

function filterOf(at: string): Filter {
  const [who, group] = ['who', 'group'].map((name) => query.value.get(name));
  return {
    at,
    who: WHO.find((one) => one === who) ?? null,
    group: GROUPS.find((one) => one === group) ?? null,
  };
}

export function ActivityPage({ at }: { at: string }) {
  const words = texts.activity;
  const filter = filterOf(at);
  const key = JSON.stringify(filter);
  const read = (before: Page['next'], signal?: AbortSignal) =>
    call('activity.list', { ...filter, before }, signal);
  const loaded = useLoaded(
    async (signal) => ({ key, page: await readEnough(read, null, signal) }),
    key,
  );
  const found = loaded.value.value;
  const isAll = filter.who === null && filter.group === null;
  const choose = (name: 'who' | 'group') => (value: string) =>
    goHere({ [name]: value === 'all' ? null : value });
  return (
    <>
      <Title name={words.title} />
      <div class="tools">
        <Choice
          label={words.group}
          names={words.groups}
          value={filter.group ?? 'all'}
          onChoice={choose('group')}
        />
        <Dropdown
          label={words.actor}
          options={Object.entries(words.actors)}
          value={filter.who ?? 'all'}
          onChoice={choose('who')}
        />
      </div>
      <Status of={loaded}>
        {found && <Entries key={found.key} isAll={isAll} first={found.page} read={read} />}
      </Status>
    </>
  );
}
