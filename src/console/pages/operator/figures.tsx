/** The figures by day of all providers, and the sums of each provider. */

import type { Got } from '../../../call/table.ts';
import { call } from '../../call.ts';
import { Bars } from '../../parts/bars.tsx';
import { Choice } from '../../parts/choice.tsx';
import { number } from '../../parts/format.ts';
import { Nothing, Title } from '../../parts/layout.tsx';
import { Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { go, goHere, query, texts } from '../../state.ts';

type Figures = Got<'figures.read'>;
type Sums = Omit<Figures['providers'][number], 'providerCode'>;

const COUNTS = ['14', '30', '90'] as const;

const refusedIn = (of: Sums) =>
  of.refused_hwid + of.refused_domain + of.refused_disabled + of.refused_full;

/** The columns of the table, in their order. */
const columnsOf = (of: Sums) => [
  ...[of.seen, of.admitted, refusedIn(of), of.freed, of.links],
  ...[of.sends, of.delivered, of.opened, of.expired],
];

function Page({ found }: { found: Figures }) {
  const words = texts.delivery;
  const devices = found.days.map((one) => ({
    day: one.day,
    up: one.admitted,
    down: refusedIn(one),
  }));
  const sends = found.days.map((one) => ({ day: one.day, up: one.delivered, down: one.expired }));
  const { overview } = texts;
  return (
    <>
      <section class="card">
        <Bars
          days={devices}
          label={overview.byDay}
          up={overview.admitted}
          down={overview.refused}
        />
      </section>
      <section class="card">
        <Bars days={sends} label={words.messagesByDay} up={words.delivered} down={words.expired} />
      </section>
      {found.providers.length === 0 ? (
        <Nothing title={words.noFigures} hint={words.noFiguresHint} />
      ) : (
        <>
          <Table heads={[texts.shell.provider, ...words.columns]}>
            {found.providers.map(({ providerCode, ...sums }) => (
              <tr key={providerCode}>
                <th scope="row">
                  <button
                    type="button"
                    class="plain"
                    onClick={() => go('/console', { at: providerCode })}
                  >
                    <bdi class="code">{providerCode}</bdi>
                  </button>
                </th>
                {columnsOf(sums).map((value, n) => (
                  <td key={words.columns[n]} class="number" data-name={words.columns[n]}>
                    {number(value)}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
          {found.providerCount > found.providers.length && (
            <p class="hint">
              {texts.providers.ofCap(number(found.providers.length), number(found.providerCount))}
            </p>
          )}
        </>
      )}
    </>
  );
}

export function FiguresPage() {
  const words = texts.delivery;
  const wanted = query.value.get('days');
  const days = COUNTS.find((one) => one === wanted) ?? '30';
  const loaded = useLoaded(
    (signal) => call('figures.read', { dayCount: Number(days) }, signal),
    days,
  );
  const names = { 14: words.days(14), 30: words.days(30), 90: words.days(90) };
  return (
    <>
      <Title name={words.figures}>
        <Choice
          label={words.period}
          names={names as Record<(typeof COUNTS)[number], string>}
          value={days}
          onChoice={(one) => goHere({ days: one })}
        />
      </Title>
      <Status of={loaded}>{loaded.value.value && <Page found={loaded.value.value} />}</Status>
    </>
  );
}
