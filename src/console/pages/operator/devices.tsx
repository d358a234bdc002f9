/** Devices of all providers: search by HWID or model, data, removal and export. */

import type { Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { Ask } from '../../parts/dialog.tsx';
import { date, number, time } from '../../parts/format.ts';
import { Facts, Nothing, Panel, Title } from '../../parts/layout.tsx';
import { save } from '../../parts/link-file.ts';
import { More, Search, Table, useSlices } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { systemName } from '../../parts/system.ts';
import { go, goHere, may, query, texts } from '../../state.ts';

type Row = Got<'devices.find'>['rows'][number];
type Shown = Got<'devices.show'>;

type Fact = Exclude<keyof Row, 'id' | 'hwid' | 'firstSeenAtMs' | 'lastSeenAtMs'>;

/** Where each fact of a device is shown. */
const PLACES: Record<Fact, 'name' | 'system' | 'app'> = {
  os: 'system',
  osVersion: 'system',
  deviceName: 'name',
  appVersion: 'app',
  userAgent: 'app',
};

const shownAs = (place: 'system' | 'app', row: Row) =>
  (Object.keys(PLACES) as Fact[])
    .filter((fact) => PLACES[fact] === place)
    .map((fact) => (fact === 'os' ? systemName(row.os) : row[fact]))
    .join(' ')
    .trim();

const deviceTitle = ({ deviceName }: Row) => deviceName || texts.link.nameless;

function DeviceRow({ row, isOpen }: { row: Row; isOpen: boolean }) {
  return (
    <tr {...(isOpen && { 'aria-current': true })}>
      <th scope="row">
        <button
          type="button"
          class="plain"
          id={`device-${row.id}`}
          onClick={() => goHere({ hwid: row.hwid })}
        >
          <bdi>{deviceTitle(row)}</bdi>
        </button>
      </th>
      <td>
        <bdi class="code">{row.hwid}</bdi>
      </td>
      <td>
        <bdi>{shownAs('system', row)}</bdi>
      </td>
      <td>
        <bdi>{row.appVersion}</bdi>
      </td>
      <td class="number">{time(row.lastSeenAtMs)}</td>
    </tr>
  );
}

/** Saves all data about the device as a file, for its owner. */
function handOver(shown: Shown): void {
  save(`device-${shown.device.id}.json`, [JSON.stringify(shown, null, 2)]);
}

function Links({ shown }: { shown: Shown }) {
  const words = texts.records;
  return (
    <>
      <section>
        <h3>{texts.shell.links}</h3>
        {shown.links.length === 0 && <p class="hint">{words.noLinks}</p>}
        <ul class="list">
          {shown.links.map(({ installCode, lastSeenAtMs, providerCode, registeredAtMs }) => (
            <li key={installCode}>
              <div class="device">
                <bdi class="code">{installCode}</bdi>
                <span class="hint">
                  {texts.link.since(date(registeredAtMs), time(lastSeenAtMs))}
                </span>
              </div>
              <Button
                label={words.atProvider(providerCode)}
                onClick={() => {
                  // A part of a secret code finds no link.
                  const search = installCode.endsWith('…') ? shown.device.hwid : installCode;
                  go('/console/links', { at: providerCode, search });
                }}
              />
            </li>
          ))}
        </ul>
      </section>
      {shown.domains.length > 0 && (
        <section>
          <h3>{texts.domains.title}</h3>
          <ul class="list">
            {shown.domains.map(({ domainName, isActive, providerCode }) => (
              <li key={`${domainName} ${providerCode}`}>
                <bdi>{domainName}</bdi>
                <span class="hint">
                  <bdi>{providerCode}</bdi> {isActive ? '' : texts.common.off}
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function factsOf({ device, refusals, seenBy, tokens }: Shown) {
  const words = texts.records;
  const push = tokens.map(({ dropped, gateway }) =>
    dropped === null ? (gateway ?? texts.activity.nothing) : words.dropped(dropped.why),
  );
  return [
    ['HWID', <bdi class="code">{device.hwid}</bdi>],
    [texts.common.system, <bdi>{shownAs('system', device)}</bdi>],
    [words.app, <bdi>{shownAs('app', device)}</bdi>],
    [words.firstSeen, date(device.firstSeenAtMs)],
    [words.lastSeen, time(device.lastSeenAtMs)],
    [words.push, <bdi>{push.join(', ') || texts.activity.nothing}</bdi>],
    [words.refusals, number(refusals)],
    [texts.providers.title, <bdi>{seenBy.map(({ providerCode }) => providerCode).join(', ')}</bdi>],
  ] as const;
}

interface PanelProps {
  hwid: string;
  onClose: () => void;
  onGone: () => void;
}

function DevicePanel({ hwid, onClose, onGone }: PanelProps) {
  const loaded = useLoaded((signal) => call('devices.show', { hwid }, signal), hwid);
  const shown = loaded.value.value;
  const words = texts.records;
  return (
    <Panel title={<bdi>{shown ? deviceTitle(shown.device) : hwid}</bdi>} onClose={onClose}>
      <Status of={loaded}>
        {shown && (
          <>
            <Facts of={factsOf(shown)} />
            <div class="actions">
              <Button label={words.handOver} onClick={() => handOver(shown)} />
              {may('devices.forget') && (
                <Ask
                  label={words.forget}
                  title={words.forgetSure(deviceTitle(shown.device))}
                  onYes={async () => {
                    await call('devices.forget', { hwid });
                    onGone();
                  }}
                >
                  <p>{words.forgetHint}</p>
                </Ask>
              )}
            </div>
            <p class="hint">{words.handOverHint}</p>
            <Links shown={shown} />
          </>
        )}
      </Status>
    </Panel>
  );
}

export function DevicesPage() {
  const words = texts.records;
  const search = query.value.get('search') ?? '';
  const opened = query.value.get('hwid');
  const list = useSlices(
    (beforeId, signal) => call('devices.find', { search, beforeId }, signal),
    search,
  );
  const close = () => {
    const row = list.rows.find(({ hwid }) => hwid === opened);
    goHere({ hwid: null });
    if (row) document.getElementById(`device-${row.id}`)?.focus();
  };
  return (
    <div class="split">
      <section class="message-list" aria-label={words.devices}>
        <Title name={words.devices} />
        <div class="tools">
          <Search label={words.searchDevice} maxLength={128} />
        </div>
        <Status of={list.loaded}>
          {list.rows.length === 0 ? (
            <Nothing
              title={search === '' ? words.noDevice : words.noMatch}
              hint={list.isMore ? texts.activity.looking : words.noDeviceHint}
            />
          ) : (
            <Table heads={[words.model, 'HWID', texts.common.system, words.app, words.lastSeen]}>
              {list.rows.map((row) => (
                <DeviceRow key={row.id} row={row} isOpen={row.hwid === opened} />
              ))}
            </Table>
          )}
          <More of={list} />
        </Status>
      </section>
      {opened !== null && (
        <DevicePanel
          key={opened}
          hwid={opened}
          onClose={close}
          onGone={() => {
            close();
            void list.again();
          }}
        />
      )}
    </div>
  );
}
