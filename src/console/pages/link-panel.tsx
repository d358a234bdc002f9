/** The panel of a link: its facts, its devices, the refused ones, and its final form. */

import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { traffic } from '../parts/bytes.ts';
import { Curl } from '../parts/copy.tsx';
import { Ask } from '../parts/dialog.tsx';
import { Field, Form } from '../parts/form.tsx';
import { date, number, time } from '../parts/format.ts';
import { jobsChanged } from '../parts/job.tsx';
import { Facts, Panel } from '../parts/layout.tsx';
import { CutOff, Cuts } from '../parts/link-cuts.tsx';
import { FinalLink, LinkQr } from '../parts/link-final.tsx';
import { AsTheyLeave, LimitField } from '../parts/link-limit.tsx';
import { Naming } from '../parts/link-naming.tsx';
import { Phones } from '../parts/link-phones.tsx';
import { ACTIVE, type Acts, RefusedRow } from '../parts/link-refused.tsx';
import { useLive } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { systemName } from '../parts/system.ts';
import { Problem, useWork } from '../parts/work.tsx';
import { may, nowMs, texts } from '../state.ts';

type Shown = Got<'links.show'>;
type Device = Shown['devices'][number];

const DISABLED = 5;
/** As many refused devices of a link are kept: core/refused-devices.ts. */
const REFUSED_KEPT = 20;

/** Returns end and traffic of the subscription, and when the panel said so. */
function figureFacts(figures: Shown['figures']): (readonly [string, string])[] {
  if (figures === null) return [];
  const words = texts.links;
  const { endsAtMs, readAtMs, totalBytes, usedBytes } = figures;
  const isOver = endsAtMs !== null && endsAtMs < nowMs();
  return [
    ...(endsAtMs === null
      ? []
      : [[isOver ? words.endedOn : words.endsOn, time(endsAtMs)] as const]),
    ...(usedBytes === null
      ? []
      : [
          [
            words.traffic,
            totalBytes === null
              ? traffic(usedBytes)
              : words.ofLimit(traffic(usedBytes), traffic(totalBytes)),
          ] as const,
        ]),
    [words.figuresRead, time(readAtMs)],
  ];
}

function factsOf(shown: Shown) {
  const words = texts.link;
  return [
    ...(shown.status === DISABLED
      ? [[texts.heads.status, <span class="badge bad">{texts.links.off}</span>] as const]
      : []),
    [words.devices, texts.links.ofLimit(number(shown.deviceCount), number(shown.limit))],
    ...(shown.limitWanted === null
      ? []
      : [[words.limitWanted, number(shown.limitWanted)] as const]),
    ...figureFacts(shown.figures),
    [texts.links.made, date(shown.createdAtMs)],
    ...(shown.policy.enforce ? [] : [[words.counting, words.countingHint] as const]),
    ...(shown.freedFromMs === null ? [] : [[words.freesItself, time(shown.freedFromMs)] as const]),
  ] as const;
}

function Edit({ at, acts, shown }: { at: string; acts: Acts; shown: Shown }) {
  const words = texts.link;
  return (
    <details>
      <summary>{words.edit}</summary>
      <Form
        submit={texts.common.save}
        draft={`link ${shown.id}`}
        beside={
          <Curl
            at={at}
            call={({ greeting = '', leave = '', limit = '', note = '' }) => ({
              path: '/api/update-install',
              params: {
                id: shown.id,
                install_limit: limit,
                ...(leave !== '' && { as_they_leave: leave }),
                note,
                greeting: greeting.trim() || 'default',
              },
            })}
          />
        }
        onSubmit={async ({ greeting = '', leave, limit, note = '' }) => {
          const change = { asTheyLeave: leave === '1', greeting: greeting.trim() || null, note };
          await call('links.edit', { at, id: shown.id, limit: Number(limit), ...change });
          await acts.run(async () => undefined);
        }}
      >
        <LimitField value={shown.limitWanted ?? shown.limit} />
        <AsTheyLeave isChosen={shown.limitWanted !== null} />
        <Field
          label={texts.heads.note}
          name="note"
          maxLength={255}
          dir="auto"
          defaultValue={shown.note ?? ''}
        />
        <Field
          label={texts.heads.greeting}
          hint={texts.links.greetingHint}
          name="greeting"
          maxLength={80}
          dir="auto"
          defaultValue={shown.own.greeting ?? ''}
        />
      </Form>
    </details>
  );
}

interface DeviceProps extends BodyProps {
  device: Device;
}

function DeviceRow({ at, acts, device, shown: { hasKey, id } }: DeviceProps) {
  const words = texts.link;
  const { app, appVersion, deviceName, hwid, lastSeenAtMs, os, osVersion, registeredAtMs } = device;
  const facts = [`${systemName(os)} ${osVersion}`.trim(), `${app} ${appVersion}`.trim()];
  return (
    <li>
      <div class="device">
        <strong>
          <bdi>{deviceName || words.nameless}</bdi>
        </strong>
        <bdi class="code">{hwid}</bdi>
        {device.sentHwid !== null && (
          <span class="hint">
            {words.copyOf} <bdi class="code">{device.sentHwid}</bdi>
          </span>
        )}
        {device.isByHash && <span class="hint">{words.byHash}</span>}
        <bdi class="hint">{facts.filter(Boolean).join(' · ')}</bdi>
        <span class="hint">{words.since(date(registeredAtMs), time(lastSeenAtMs))}</span>
        {device.wasHwid !== null && (
          <div class="notice">
            <p>
              {words.samePhone} <bdi class="code">{device.wasHwid}</bdi>
            </p>
            {may('slots.free') && (
              <Button label={words.freeOld} onClick={() => acts.free(device.wasHwid ?? '')} />
            )}
          </div>
        )}
        {device.phones.length > 1 && (
          <Phones
            at={at}
            linkId={id}
            hwid={hwid}
            phones={device.phones}
            onIgnored={() => acts.run(async () => undefined)}
          />
        )}
      </div>
      <div class="actions">
        {may('slots.free') && <Button label={words.free} onClick={() => acts.free(hwid)} />}
        {may('cuts.ask') && hasKey && <CutOff at={at} id={id} acts={acts} hwid={hwid} />}
      </div>
    </li>
  );
}

/** A HWID that was named and has not come. */
function NamedRow({ acts, named }: { acts: Acts; named: Shown['named'][number] }) {
  const words = texts.link;
  return (
    <li>
      <div class="device">
        {named.deviceName !== '' && (
          <strong>
            <bdi>{named.deviceName}</bdi>
          </strong>
        )}
        <bdi class="code">{named.hwid}</bdi>
        <span class="hint">{words.named}</span>
        <span class="hint">{date(named.namedAtMs)}</span>
      </div>
      {may('slots.free') && <Button label={words.free} onClick={() => acts.free(named.hwid)} />}
    </li>
  );
}

function Danger({ at, acts, shown, onGone }: BodyProps & { onGone: () => void }) {
  const words = texts.link;
  const isOff = shown.status === DISABLED;
  const { id: linkId } = shown;
  const later = (work: () => Promise<unknown>) =>
    acts.run(async () => {
      await work();
      jobsChanged();
    });
  return (
    <div class="actions">
      {may('links.edit') && (
        <Button
          label={isOff ? texts.common.enable : texts.common.disable}
          onClick={() => acts.edit({ status: isOff ? ACTIVE : DISABLED })}
        />
      )}
      {may('slots.free-all') && shown.deviceCount > 0 && (
        <Button
          label={words.freeAll}
          onClick={() => later(() => call('slots.free-all', { at, linkId }))}
        />
      )}
      {may('cuts.ask') && shown.hasKey && <CutOff at={at} id={linkId} acts={acts} hwid={null} />}
      {may('links.revoke') && (
        <Button
          label={words.revoke}
          onClick={() => later(() => call('links.revoke', { at, linkId }))}
        />
      )}
      {may('links.remove') && (
        <Ask
          label={words.remove}
          title={words.sure}
          onYes={async () => {
            await call('links.remove', { at, id: linkId });
            onGone();
          }}
        >
          <p>{words.sureHint}</p>
        </Ask>
      )}
    </div>
  );
}

interface BodyProps {
  at: string;
  acts: Acts;
  shown: Shown;
}

function Body({ at, acts, shown, onGone }: BodyProps & { onGone: () => void }) {
  const words = texts.link;
  return (
    <>
      <Facts of={factsOf(shown)} />
      <Danger at={at} acts={acts} shown={shown} onGone={onGone} />
      {may('links.revoke') && (
        <p class="hint">
          {words.revokeHint}
          {shown.hasKey && ` ${words.losesKey}`}
        </p>
      )}
      {may('cuts.ask') && shown.hasKey && shown.status === DISABLED && (
        <p class="notice">{words.cutEnded}</p>
      )}
      {may('links.edit') && <Edit at={at} acts={acts} shown={shown} />}
      <section>
        <h3>{words.devices}</h3>
        <p class="hint">{shown.deviceCount === 0 ? words.noDevices : words.freeHint}</p>
        <ul class="list">
          {shown.devices.map((device) => (
            <DeviceRow key={device.hwid} at={at} acts={acts} device={device} shown={shown} />
          ))}
          {shown.named.map((named) => (
            <NamedRow key={named.hwid} acts={acts} named={named} />
          ))}
        </ul>
        {may('links.name') && (
          <Naming
            at={at}
            id={shown.id}
            code={shown.code}
            onNamed={() => acts.run(async () => undefined)}
          />
        )}
      </section>
      <Cuts at={at} acts={acts} shown={shown} />
      {shown.refused.length > 0 && (
        <section>
          <h3>{words.refused}</h3>
          {shown.refused.length >= REFUSED_KEPT && (
            <p class="hint">{words.refusedLast(REFUSED_KEPT)}</p>
          )}
          <ul class="list">
            {shown.refused.map((of) => (
              <RefusedRow key={of.hwid} acts={acts} of={of} shown={shown} />
            ))}
          </ul>
        </section>
      )}
      <FinalLink key={shown.code} at={at} id={shown.id} />
      {shown.pageUrl !== null && (
        <section>
          <h3>{words.page}</h3>
          <p class="hint">{words.pageHint}</p>
          <LinkQr text={shown.pageUrl} label={words.pageQr} />
        </section>
      )}
    </>
  );
}

interface PanelProps {
  at: string;
  id: number;
  onClose: () => void;
  /** Draws the row again, before the stream says so. */
  onChanged: (id: number) => Promise<void>;
}

export function LinkPanel({ at, id, onClose, onChanged }: PanelProps) {
  const { problem, run: work } = useWork();
  const loaded = useLoaded((signal) => call('links.show', { at, id }, signal), `${at} ${id}`);
  const shown = loaded.value.value;
  const run: Acts['run'] = async (change) => {
    await work(change);
    await Promise.all([loaded.load(), onChanged(id)]);
  };
  const acts: Acts = {
    run,
    edit: (change) => run(() => call('links.edit', { at, id, ...change })),
    name: (hwids) => run(() => call('links.name', { at, installId: id, hwids })),
    free: (hwid) => run(() => call('slots.free', { at, linkId: id, hwid }).then(jobsChanged)),
    lift: (hwid) => run(() => call('bars.lift', { at, linkId: id, hwid })),
  };
  useLive(
    'links',
    (ids) => {
      if (ids.length === 0 || ids.includes(id)) void loaded.load();
    },
    `${id}`,
  );
  const title = (
    <>
      <bdi class="code">{shown?.code ?? ''}</bdi> <bdi>{shown?.note}</bdi>{' '}
      <small class="hint">{texts.common.numbered(`${id}`)}</small>
    </>
  );
  return (
    <Panel title={title} onClose={onClose}>
      <Problem of={problem} />
      <Status of={loaded}>
        {shown && <Body at={at} acts={acts} shown={shown} onGone={onClose} />}
      </Status>
    </Panel>
  );
}
