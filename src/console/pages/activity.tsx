/** The activity: the provider's part of the audit log. */

import type { Given } from '../../http/console/table.ts';
import { call } from '../call.ts';
import { Entries, type Page, readEnough } from '../parts/audit-entries.tsx';
import { Choice } from '../parts/choice.tsx';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { go, query, texts } from '../state.ts';

const PATH = '/console/activity';
const WHO = ['account', 'provider', 'operator', 'system', 'user'] as const;
const GROUPS = ['links', 'domains', 'messages', 'people', 'webhooks'] as const;

type Filter = Pick<Given<'activity.list'>, 'at' | 'who'> & {
  group: (typeof GROUPS)[number] | null;
};

const kept = () => ({ who: query.value.get('who'), group: query.value.get('group') });

function filterOf(at: string): Filter {
  const { group, who } = kept();
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
    go(PATH, { ...kept(), [name]: value === 'all' ? null : value }, 'replace');
  return (
    <>
      <div class="title">
        <h1>{words.title}</h1>
      </div>
      <div class="tools">
        <Choice
          label={words.group}
          names={words.groups}
          value={filter.group ?? 'all'}
          onChoice={choose('group')}
        />
        <select
          aria-label={words.actor}
          value={filter.who ?? 'all'}
          onChange={({ currentTarget: { value } }) => choose('who')(value)}
        >
          {Object.entries(words.actors).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <Status of={loaded}>
        {found && <Entries key={found.key} isAll={isAll} first={found.page} read={read} />}
      </Status>
    </>
  );
}
