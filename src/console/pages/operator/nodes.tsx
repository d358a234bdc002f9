/** The nodes on the shared database. */

import { call } from '../../call.ts';
import { Button } from '../../parts/button.tsx';
import { number, time } from '../../parts/format.ts';
import { Nothing, Title } from '../../parts/layout.tsx';
import { Table } from '../../parts/list.tsx';
import { Status, useLoaded } from '../../parts/loaded.tsx';
import { texts } from '../../state.ts';

export function NodesPage() {
  const words = texts.machine;
  const loaded = useLoaded(async (signal) => ({ all: await call('nodes.list', {}, signal) }), '');
  const nodes = loaded.value.value?.all;
  return (
    <>
      <Title name={words.nodes}>
        <Button label={words.again} onClick={loaded.load} />
      </Title>
      <Status of={loaded}>
        {nodes == null ? (
          <Nothing title={words.oneNode} hint={words.oneNodeHint} />
        ) : (
          <Table heads={[words.node, texts.common.state, words.version, words.seen, words.clock]}>
            {nodes.map((node) => (
              <tr key={`${node.name} ${node.startedAtMs}`}>
                <th scope="row">
                  <bdi>{node.name}</bdi> <bdi class="code hint">{node.address}</bdi>
                </th>
                <td>
                  <span class={node.isSilent ? 'badge bad' : 'badge good'}>
                    {node.isSilent ? words.silent : words.up}
                  </span>
                </td>
                <td>
                  <bdi>{node.version}</bdi> · {number(node.schema)}
                </td>
                <td class="number">
                  {time(node.seenAtMs)} · {words.startedAt(time(node.startedAtMs))}
                </td>
                <td class="number">{words.milliseconds(number(-node.clockOffsetMs))}</td>
              </tr>
            ))}
          </Table>
        )}
      </Status>
    </>
  );
}
