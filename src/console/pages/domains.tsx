/** The domains of a provider: typed here, hashed in the browser. */

import { useSignal } from '@preact/signals';
import type { Got } from '../../call/table.ts';
import { call, Refusal } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Copy, Curl } from '../parts/copy.tsx';
import { Ask } from '../parts/dialog.tsx';
import { keepFocus } from '../parts/focus.ts';
import { Field, Form } from '../parts/form.tsx';
import { date } from '../parts/format.ts';
import { hashOf, hostIn } from '../parts/host.ts';
import { keepHost } from '../parts/kept-host.ts';
import { Card, Nothing, Title } from '../parts/layout.tsx';
import { Table } from '../parts/list.tsx';
import { useLiveSlowly } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { isSetUp, SetupSteps } from '../parts/setup.tsx';
import { Problem, useWork } from '../parts/work.tsx';
import { may, texts } from '../state.ts';

type Domain = Got<'domains.list'>[number];

const ACTIVE = 10;

function AddDomain({ at, onAdded }: { at: string; onAdded: () => Promise<void> }) {
  const typed = useSignal('');
  const hash = useSignal<string | null>(null);
  const says = useSignal<string | null>(null);
  const words = texts.domains;
  const show = async (text: string) => {
    typed.value = text;
    const host = hostIn(text);
    const made = host === null ? null : await hashOf(host);
    // The hash of an earlier input may finish after that of a later one.
    if (typed.value === text) hash.value = made;
  };
  const params = () => ({
    domain_hash: hash.value ?? '',
    domain_name: hostIn(typed.value),
  });
  return (
    <Card title={words.add}>
      <Form
        submit={words.bind}
        draft="domain"
        beside={<Curl at={at} call={() => ({ path: '/api/add-domain', params: params() })} />}
        onSubmit={async ({ host: given = '' }) => {
          const host = hostIn(given);
          if (host === null) throw new Refusal('host_wrong', words.wrongHost);
          says.value = null;
          const bound = await call('domains.add', { at, hash: await hashOf(host), name: host });
          // The form of the final link shows it as the start of an address.
          keepHost(at, `https://${host}`);
          says.value = bound.says === 'ok' ? words.isBound(host) : words.isActive(host);
          await show('');
          await onAdded();
        }}
      >
        <Field
          label={words.host}
          hint={words.hostHint}
          name="host"
          maxLength={300}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          dir="ltr"
          placeholder="sub.example.com"
          onInput={({ currentTarget }) => show(currentTarget.value)}
          required
        />
        <p class="hash" aria-live="polite">
          {hash.value === null ? (
            <span class="hint">{typed.value === '' ? words.hashHint : words.wrongHost}</span>
          ) : (
            <bdi class="code">{hash.value}</bdi>
          )}
        </p>
      </Form>
      <p role="status" class="good" hidden={says.value === null}>
        {says.value}
      </p>
    </Card>
  );
}

interface RowProps {
  domain: Domain;
  onChange: (change: () => Promise<unknown>) => Promise<void>;
  onChanged: () => Promise<void>;
  at: string;
}

function Row({ domain, onChange, onChanged, at }: RowProps) {
  const { createdAtMs, domainHash, domainName, id, status } = domain;
  const words = texts.domains;
  const isOn = status === ACTIVE;
  return (
    <tr>
      <th scope="row">
        <bdi>{domainName}</bdi> <small class="hint">{texts.common.numbered(`${id}`)}</small>
      </th>
      <td>
        <bdi class="code short" title={domainHash}>
          {domainHash}
        </bdi>
      </td>
      <td>
        <span class={isOn ? 'badge good' : 'badge'}>{isOn ? words.on : texts.common.off}</span>
      </td>
      <td class="number" data-name={words.made}>
        {date(createdAtMs)}
      </td>
      <td class="row-actions">
        <Copy text={() => domainHash} label={words.copyHash} />
        {may('domains.delete') &&
          (isOn ? (
            <Ask
              label={texts.common.disable}
              title={words.sureDisable(domainName || domainHash)}
              onYes={async () => {
                await call('domains.delete', { at, id });
                void onChanged().then(keepFocus);
              }}
            >
              <p>{words.sureDisableHint}</p>
            </Ask>
          ) : (
            <Button
              label={texts.common.enable}
              onClick={() =>
                onChange(() => call('domains.add', { at, hash: domainHash, name: '' }))
              }
            />
          ))}
      </td>
    </tr>
  );
}

export function DomainsPage({ at }: { at: string }) {
  const { problem, run } = useWork();
  const loaded = useLoaded(
    async (signal) => ({
      domains: await call('domains.list', { at }, signal),
      setup: await call('setup.read', { at }, signal),
    }),
    at,
  );
  // The first device ends a step of the setup.
  useLiveSlowly(['links'], () => void loaded.load(), at);
  const words = texts.domains;
  const found = loaded.value.value;
  const onChange: RowProps['onChange'] = async (change) => {
    if (await run(change)) await loaded.load();
  };
  return (
    <>
      <Title name={words.title}>
        <p>{words.what}</p>
      </Title>
      {may('domains.add') && <AddDomain at={at} onAdded={loaded.load} />}
      <Status of={loaded}>
        {found && !isSetUp(found.setup) && (
          <Card title={words.missing}>
            <SetupSteps setup={found.setup} />
          </Card>
        )}
        <Problem of={problem} />
        {found?.domains.length === 0 && <Nothing title={words.none} hint={words.noneHint} />}
        {found && found.domains.length > 0 && (
          <Table heads={[words.host, words.hash, words.status, words.made, '']}>
            {found.domains.map((domain) => (
              <Row
                key={domain.id}
                at={at}
                domain={domain}
                onChange={onChange}
                onChanged={loaded.load}
              />
            ))}
          </Table>
        )}
      </Status>
    </>
  );
}
