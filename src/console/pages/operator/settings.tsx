/** The effective settings of this node with their origins; secrets are masked. */

import { useSignal } from '@preact/signals';
import { call } from '../../call.ts';
import { Choice } from '../../parts/choice.tsx';
import { Nothing, Title } from '../../parts/layout.tsx';
import { Search, Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { query, texts } from '../../state.ts';

export function SettingsPage() {
  const words = texts.machine;
  const loaded = useLoaded((signal) => call('settings.list', {}, signal), '');
  const shown = useSignal<'all' | 'own'>('all');
  const wanted = (query.value.get('search') ?? '').toLowerCase();
  const found = loaded.value.value;
  const rows = (found?.rows ?? []).filter(
    ({ key, origin, value, variable }) =>
      (shown.value === 'all' || origin !== 'default') &&
      `${key} ${value} ${variable}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <Title name={words.settings} />
      <p class="hint">
        {words.settingsHint} {found?.file && <bdi class="code">{found.file}</bdi>}
      </p>
      <div class="tools">
        <Search label={words.setting} />
        <Choice
          label={words.origin}
          names={words.origins}
          value={shown.value}
          onChoice={(one) => (shown.value = one)}
        />
      </div>
      <Status of={loaded}>
        {rows.length === 0 ? (
          <Nothing title={words.noSetting} hint={words.noSettingHint} />
        ) : (
          <Table heads={[words.setting, words.value, words.origin]}>
            {rows.map(({ key, origin, value, variable }) => (
              <tr key={key}>
                <th scope="row">
                  <bdi class="code" title={variable}>
                    {key}
                  </bdi>
                </th>
                <td>
                  <bdi class="code">{value === '' ? texts.activity.nothing : value}</bdi>
                </td>
                <td class="number">
                  {origin === 'default' ? words.byDefault : <bdi class="code">{origin}</bdi>}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Status>
    </>
  );
}
