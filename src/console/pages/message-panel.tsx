/** The panel of a message: its content, its times, and its states at devices. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Got } from '../../call/table.ts';
import { call } from '../call.ts';
import { Button } from '../parts/button.tsx';
import { Facts, focusPanel, Panel } from '../parts/layout.tsx';
import { lengthOf, useLeft } from '../parts/left.ts';
import { useLive } from '../parts/live.ts';
import { Status, useLoaded } from '../parts/loaded.tsx';
import { SendTime } from '../parts/send-time.tsx';
import { Problem } from '../parts/work.tsx';
import { go, may, texts, wordsFor } from '../state.ts';
import { Funnel } from './message-funnel.tsx';
import { Ledger } from './message-ledger.tsx';
import { actionName, StateBadge, targetsInFull, titleOf } from './message-words.tsx';

type Shown = Got<'messages.show'>;

interface CancelProps {
  at: string;
  id: number;
  untilMs: number;
  nowMs: number;
  onCancelled: () => void;
}

function Cancel({ at, id, nowMs, onCancelled, untilMs }: CancelProps) {
  const words = texts.messages;
  const dialog = useRef<HTMLDialogElement>(null);
  const problem = useSignal<string | null>(null);
  const left = useLeft(untilMs, nowMs);
  if (left <= 0) return <p class="hint">{words.cancelOver}</p>;
  const cancel = async () => {
    try {
      await call('messages.cancel', { at, id });
      // Closing the dialog returns the focus; the panel takes it afterwards.
      dialog.current?.close();
      onCancelled();
    } catch (fault) {
      dialog.current?.close();
      problem.value = wordsFor(fault);
    }
  };
  return (
    <div class="cancel">
      <p role="timer" aria-live="off">
        {words.cancelIn(lengthOf(left))}
      </p>
      {may('messages.cancel') && (
        <Button label={words.cancel} onClick={() => dialog.current?.showModal()} />
      )}
      <Problem of={problem} />
      <dialog ref={dialog} aria-labelledby="cancel-title">
        <h2 id="cancel-title">{words.sure}</h2>
        <p>{words.sureHint}</p>
        <div class="actions">
          <Button label={words.cancel} class="main" onClick={cancel} />
          <Button label={words.keep} onClick={() => dialog.current?.close()} />
        </div>
      </dialog>
    </div>
  );
}

type SaidText = Extract<Shown['content'], { kind: 'push' }>['texts'][number];

function Text({ text: { body, link, locale, title } }: { text: SaidText }) {
  return (
    <article class="said">
      {locale !== '' && (
        <bdi class="badge" lang="">
          {locale}
        </bdi>
      )}
      {title !== '' && (
        <p dir="auto">
          <strong>{title}</strong>
        </p>
      )}
      <p dir="auto">{body}</p>
      {link !== '' && (
        <p class="hint">
          <bdi>{link}</bdi>
        </p>
      )}
    </article>
  );
}

function Says({ content }: { content: Shown['content'] }) {
  const words = texts.messages;
  if (content === null) return <p class="hint">{words.deleted}</p>;
  if (content.kind === 'command') {
    return (
      <>
        <p>
          <strong>{actionName(content.action)}</strong>
        </p>
        {content.text !== '' && (
          <pre class="said">
            <bdi>{content.text}</bdi>
          </pre>
        )}
        {content.isCut && <p class="hint">{words.cut}</p>}
      </>
    );
  }
  const [first, ...others] = content.texts;
  return (
    <>
      {first && <Text text={first} />}
      {others.length > 0 && (
        <details class="others">
          <summary>{words.languages(others.length)}</summary>
          {others.map((text) => (
            <Text key={text.locale} text={text} />
          ))}
        </details>
      )}
      {content.isFilled && <p class="hint">{words.filled}</p>}
      {content.image !== '' && (
        <p class="hint">
          {words.image}: <bdi>{content.image}</bdi>
        </p>
      )}
    </>
  );
}

function factsOf(shown: Shown) {
  const words = texts.messages;
  const times = [
    [words.made, shown.createdAtMs],
    [words.due, shown.dueAtMs],
    [words.began, shown.beganAtMs],
    [words.finished, shown.finishedAtMs],
    [words.expires, shown.expiresAtMs],
  ] as const;
  const { replacesId } = shown;
  const open = () => go('/console/messages', { message: `${replacesId}` });
  return [
    [words.recipients, <bdi>{targetsInFull(shown)}</bdi>],
    ...times.flatMap(([name, ms]) => (ms === null ? [] : [[name, <SendTime ms={ms} />] as const])),
    ...(replacesId === null
      ? []
      : [
          [
            words.replaces,
            <Button label={texts.common.numbered(`${replacesId}`)} class="plain" onClick={open} />,
          ] as const,
        ]),
  ] as const;
}

interface BodyProps {
  at: string;
  shown: Shown;
  /** Grows with each change of the message. */
  turn: number;
  onCancelled: () => void;
}

function Body({ at, onCancelled, shown, turn }: BodyProps) {
  const words = texts.messages;
  const { cancelUntilMs, id, isPruned, kind, nowMs } = shown;
  const copy = () => {
    const path = kind === 'push' ? '/console/compose' : '/console/commands';
    go(path, { copy: `${id}` });
  };
  return (
    <>
      <div class="panel-state">
        <StateBadge state={shown.state} />
        <small class="hint">{texts.common.numbered(`${id}`)}</small>
        {may('messages.cancel') && shown.content !== null && (
          <Button label={words.copy} onClick={copy} />
        )}
      </div>
      {cancelUntilMs !== null && (
        <Cancel at={at} id={id} untilMs={cancelUntilMs} nowMs={nowMs} onCancelled={onCancelled} />
      )}
      <section>
        <h3>{words.says}</h3>
        <Says content={shown.content} />
      </section>
      <section>
        <h3>{words.became}</h3>
        {isPruned && <p class="hint">{words.pruned}</p>}
        {!isPruned && shown.beganAtMs === null && <p class="hint">{words.notBegun}</p>}
        {!isPruned && shown.beganAtMs !== null && <Funnel at={at} shown={shown} turn={turn} />}
      </section>
      <section>
        <h3>{words.facts}</h3>
        <Facts of={factsOf(shown)} />
      </section>
      {!isPruned && shown.beganAtMs !== null && <Ledger at={at} id={id} kind={kind} turn={turn} />}
    </>
  );
}

export function MessagePanel(props: { at: string; id: number; onClose: () => void }) {
  const { at, id, onClose } = props;
  const turn = useSignal(0);
  const isCancelled = useSignal(false);
  const loaded = useLoaded((signal) => call('messages.show', { at, id }, signal), `${at} ${id}`);
  const shown = loaded.value.value;
  const refresh = async () => {
    await loaded.load();
    turn.value += 1;
  };
  const onCancelled = async () => {
    isCancelled.value = true;
    // The button that had the focus was removed.
    focusPanel();
    await refresh();
  };
  useLive(
    'messages',
    (ids) => {
      if (ids.length === 0 || ids.includes(id)) void refresh();
    },
    `${id}`,
  );
  return (
    <Panel
      title={<bdi>{shown === null ? texts.common.numbered(`${id}`) : titleOf(shown)}</bdi>}
      onClose={onClose}
    >
      <p class="notice good" role="status" hidden={!isCancelled.value}>
        {isCancelled.value && texts.messages.isCancelled}
      </p>
      <Status of={loaded}>
        {shown && <Body at={at} shown={shown} turn={turn.value} onCancelled={onCancelled} />}
      </Status>
    </Panel>
  );
}
