/** Bars by day, drawn by hand: admitted devices above the line, refused ones below. */

import { day as dayText, number } from './format.ts';

interface DayBars {
  day: string;
  up: number;
  down: number;
}

const WIDTH = 700;
const HEIGHT = 160;
const GAP = 6;

interface BarsProps {
  days: readonly DayBars[];
  label: string;
  up: string;
  down: string;
}

/** A chart, with a table of the same figures for screen readers. */
export function Bars({ days, label, up, down }: BarsProps) {
  const most = Math.max(1, ...days.map((one) => Math.max(one.up, one.down)));
  const step = WIDTH / days.length;
  const middle = HEIGHT / 2;
  const heightOf = (count: number) =>
    count === 0 ? 0 : Math.max(2, (count / most) * (middle - 4));
  return (
    <figure class="bars">
      <figcaption>
        {label}
        <span class="legend legend-up">{up}</span>
        <span class="legend legend-down">{down}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path class="bars-line" d={`M0 ${middle}H${WIDTH}`} />
        {days.map((one, n) => (
          <g key={one.day}>
            <rect
              class="bars-up"
              x={n * step + GAP / 2}
              y={middle - heightOf(one.up)}
              width={step - GAP}
              height={heightOf(one.up)}
              rx="3"
            />
            <rect
              class="bars-down"
              x={n * step + GAP / 2}
              y={middle}
              width={step - GAP}
              height={heightOf(one.down)}
              rx="3"
            />
          </g>
        ))}
      </svg>
      <div class="bars-days" aria-hidden="true">
        <span>{dayText(days[0]?.day ?? '')}</span>
        <span>{dayText(days.at(-1)?.day ?? '')}</span>
      </div>
      {/* A table is as wide as its words, also a hidden one. */}
      <div class="visually-hidden">
        <table>
          <caption>{label}</caption>
          <tbody>
            {days.map((one) => (
              <tr key={one.day}>
                <th scope="row">{dayText(one.day)}</th>
                <td>
                  {up}: {number(one.up)}
                </td>
                <td>
                  {down}: {number(one.down)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
