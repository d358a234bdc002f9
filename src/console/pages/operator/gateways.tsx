/** The push gateways with their last problems, a test of each, and failing webhooks. */

import { useSignal } from '@preact/signals';
import type { Given, Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { Field, Form, Select } from '../../parts/form.tsx';
import { number, time } from '../../parts/format.ts';
import { Card, Title } from '../../parts/layout.tsx';
import { Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { go, may, texts } from '../../state.ts';

type Delivery = Got<'gateways.list'>;
type Gateway = Delivery['gateways'][number];
type State = NonNullable<Gateway['state']>;
type Name = Given<'gateways.test'>['gateway'];

/** Names of gateways, the same in each language. */
const NAMES: Readonly<Record<Name, string>> = {
  fcm: 'FCM',
  apns: 'APNs',
  webpush: 'Web Push',
};
const LOOKS: Readonly<Record<State, string>> = {
  ready: 'badge good',
  paused: 'badge warm',
  failing: 'badge warm',
  stopped: 'badge bad',
};

function StateOf({ of }: { of: State }) {
  return <span class={LOOKS[of]}>{texts.delivery.states[of]}</span>;
}

function stateIn({ failingCount, isSetUp, serviceCount, state }: Gateway) {
  const words = texts.delivery;
  if (!isSetUp) return <span class="badge">{words.notSetUp}</span>;
  if (state !== null) return <StateOf of={state} />;
  if (failingCount === 0) return <StateOf of="ready" />;
  return (
    <span class="badge warm">{words.someFail(number(failingCount), number(serviceCount))}</span>
  );
}

function GatewayRow({ of }: { of: Gateway }) {
  const words = texts.delivery;
  return (
    <tr>
      <th scope="row">{NAMES[of.gateway]}</th>
      <td>{stateIn(of)}</td>
      <td class="number">{number(of.waitingCount)}</td>
      <td class="number">{of.oldestAtMs === null ? '' : time(of.oldestAtMs)}</td>
      <td>
        <bdi>{of.problem}</bdi>
        {of.retryAtMs !== null && <p class="hint">{words.retry(time(of.retryAtMs))}</p>}
        {of.stoppedAtMs !== null && <p class="hint">{words.mend}</p>}
      </td>
    </tr>
  );
}

function Services({ of }: { of: NonNullable<Gateway['services']> }) {
  const words = texts.delivery;
  return (
    <Table heads={[words.service, texts.common.state, words.waiting, words.problem]}>
      {of.map(({ origin, problem, state, waitingCount }) => (
        <tr key={origin}>
          <th scope="row">
            <bdi class="code">{origin}</bdi>
          </th>
          <td>
            <StateOf of={state} />
          </td>
          <td class="number">{number(waitingCount)}</td>
          <td>
            <bdi>{problem}</bdi>
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Test({ gateways }: { gateways: readonly Gateway[] }) {
  const words = texts.delivery;
  const said = useSignal<Got<'gateways.test'> | null>(null);
  const isGood = said.value?.verdict === 'accepted';
  return (
    <Card title={words.test} hint={words.testHint}>
      <Form
        submit={words.send}
        keeps
        onSubmit={async ({ gateway, hwid = '' }) => {
          said.value = null;
          said.value = await call('gateways.test', { gateway: gateway as Name, hwid });
        }}
      >
        <div class="fields">
          <Select
            label={words.gateway}
            name="gateway"
            options={gateways.map((one) => [one.gateway, NAMES[one.gateway]])}
            value={gateways.find(({ isSetUp }) => isSetUp)?.gateway ?? 'fcm'}
          />
          <Field label="HWID" name="hwid" maxLength={128} required />
        </div>
      </Form>
      {said.value !== null && (
        <p class={isGood ? 'good' : 'problem'} role="status">
          {words.verdicts[said.value.verdict]} <bdi>{said.value.problem}</bdi>
        </p>
      )}
    </Card>
  );
}

function Webhooks({
  of,
  counts,
}: {
  of: Delivery['webhooks'];
  counts: Delivery['disabledCounts'];
}) {
  const words = texts.delivery;
  const disabledCount = counts.operator + counts.provider;
  return (
    <section class="message-list" aria-label={words.webhooks}>
      <h2>{words.webhooks}</h2>
      {disabledCount > 0 && (
        <p class={counts.operator > 0 ? 'problem' : 'hint'}>
          {words.disabled(number(counts.operator), number(counts.provider))}
        </p>
      )}
      {of.length === 0 ? (
        <p class="hint">{words.noWebhooks}</p>
      ) : (
        <Table
          heads={[
            ...[texts.common.address, texts.shell.provider, texts.common.state],
            ...[words.waiting, words.problem, ''],
          ]}
        >
          {of.map(({ address, disabled, failingSinceMs, id, problem, provider, waitingCount }) => (
            <tr key={id}>
              <th scope="row">
                <bdi>{address}</bdi>
              </th>
              <td>{provider === null ? words.ofOperator : <bdi class="code">{provider}</bdi>}</td>
              <td>
                <span class={disabled === null ? 'badge warm' : 'badge bad'}>
                  {disabled === null ? words.states.failing : texts.common.off}
                </span>
              </td>
              <td class="number">{number(waitingCount)}</td>
              <td>
                <bdi>{problem}</bdi>
                {failingSinceMs !== null && <p class="hint">{words.since(time(failingSinceMs))}</p>}
                {disabled !== null && <p class="hint">{words.since(time(disabled.atMs))}</p>}
                {disabled !== null && provider === null && (
                  <p class="hint">{words.enable(`gatepost webhook set ${id} --enable`)}</p>
                )}
              </td>
              <td class="row-actions">
                {provider !== null && (
                  <Button
                    label={words.open}
                    onClick={() => go('/console/webhooks', { at: provider })}
                  />
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

export function GatewaysPage() {
  const words = texts.delivery;
  const loaded = useLoaded((signal) => call('gateways.list', {}, signal), '');
  const found = loaded.value.value;
  const services = found?.gateways.flatMap((one) => one.services ?? []) ?? [];
  return (
    <>
      <Title name={words.gateways}>
        <Button label={texts.machine.again} onClick={loaded.load} />
      </Title>
      <Status of={loaded}>
        {found && (
          <>
            <Table
              heads={[
                ...[words.gateway, texts.common.state, words.waiting],
                ...[words.oldest, words.problem],
              ]}
            >
              {found.gateways.map((one) => (
                <GatewayRow key={one.gateway} of={one} />
              ))}
            </Table>
            {services.length > 0 && <Services of={services} />}
            {may('gateways.test') && <Test gateways={found.gateways} />}
            <Webhooks of={found.webhooks} counts={found.disabledCounts} />
          </>
        )}
      </Status>
    </>
  );
}
