/** Adds links from a CSV file, after a preview of each line. */

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { call, Refusal } from '../call.ts';
import { texts, wordsFor } from '../state.ts';
import { Button } from './button.tsx';
import { Field, Form } from './form.tsx';
import { number } from './format.ts';
import { FILE_BYTES_MAX, piecesOf, type ReadRow } from './link-file.ts';
import { LIMIT_USUAL, LimitField } from './link-limit.tsx';
import { Problem } from './work.tsx';

const DRAFTS_MAX = 100;
/** The most lines of each kind in the preview. */
const LISTED_MAX = 50;
/** The most rows of a file. */
const ROWS_MAX = 100_000;

interface Found {
  rows: ReadRow[];
  skipped: { line: number; what: string }[];
  mistakes: { line: number; what: string }[];
}

interface ImportProps {
  at: string;
  onClose: () => void;
  onMade: () => void;
}

/** Reads a file piece by piece; `onCount` receives the number of lines so far. */
async function readFile(
  at: string,
  file: File,
  onCount: (n: number) => void,
  isOver: () => boolean,
) {
  if (file.size > FILE_BYTES_MAX) throw new Refusal('too_large', texts.links.fileTooLarge);
  const found: Found = { rows: [], skipped: [], mistakes: [] };
  for (const { linesBefore, text } of piecesOf(await file.text())) {
    if (isOver()) break;
    const { mistakes, rows } = await call('links.csv-read', { at, text });
    const placed = <T extends { line: number }>(one: T) => ({
      ...one,
      line: one.line === 1 ? 1 : one.line + linesBefore,
    });
    for (const row of rows.map(placed)) {
      if (row.why === null) found.rows.push(row);
      else found.skipped.push({ line: row.line, what: row.why });
    }
    found.mistakes.push(...mistakes.map(placed));
    onCount(found.rows.length + found.skipped.length + found.mistakes.length);
    // Stops if the header row is wrong, or if too many lines have mistakes.
    if (mistakes.some(({ line }) => line === 1) || found.mistakes.length > LISTED_MAX) break;
    if (found.rows.length > ROWS_MAX) throw new Refusal('too_large', texts.links.fileTooLarge);
  }
  return found;
}

function Lines({ title, of }: { title: string; of: Found['mistakes'] }) {
  if (of.length === 0) return null;
  return (
    <details open={of.length <= 5}>
      <summary>{title}</summary>
      <ul class="lines">
        {of.slice(0, LISTED_MAX).map(({ line, what }) => (
          <li key={line}>
            {texts.links.line(number(line))}: <bdi>{what}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface MakeProps {
  made: number | null;
  count: number;
  onMake: (limit: number) => Promise<void>;
  onCancel: () => void;
}

function Make({ made, count, onMake, onCancel }: MakeProps) {
  const words = texts.links;
  return (
    <Form
      submit={words.createMany(count)}
      beside={<Button label={texts.common.cancel} onClick={onCancel} />}
      onSubmit={({ limit }) => onMake(Number(limit))}
    >
      <LimitField label={words.limitElse} value={LIMIT_USUAL} />
      {made !== null && <p role="status">{words.madeOf(number(made), number(count))}</p>}
    </Form>
  );
}

export function ImportLinks({ at, onClose, onMade }: ImportProps) {
  const words = texts.links;
  const found = useSignal<Found | null>(null);
  const count = useSignal(0);
  const isReading = useSignal(false);
  const problem = useSignal<string | null>(null);
  const made = useSignal<number | null>(null);
  /** The number of rows that the server has added or skipped. */
  const dealt = useSignal(0);
  const missed = useSignal<Found['skipped']>([]);
  const isOver = useRef(false);

  async function read(file: File | undefined): Promise<void> {
    if (file === undefined || isReading.value) return;
    [isReading.value, problem.value, count.value, found.value] = [true, null, 0, null];
    try {
      found.value = await readFile(
        at,
        file,
        (n) => (count.value = n),
        () => isOver.current,
      );
    } catch (fault) {
      problem.value = wordsFor(fault);
    } finally {
      isReading.value = false;
    }
  }

  async function make(limit: number): Promise<void> {
    const rows = found.value?.rows ?? [];
    while (dealt.value < rows.length && !isOver.current) {
      const from = dealt.value;
      const some = rows.slice(from, from + DRAFTS_MAX);
      const drafts = some.map(({ line: _, why: __, ...row }) => ({
        ...row,
        limit: row.limit ?? limit,
      }));
      const answer = await call('links.add-many', { at, drafts });
      const whys = answer.made.map(({ why }) => why);
      // Rows after the stop can be retried.
      const stop = answer.isStopped ? whys.indexOf(whys.at(-1) ?? null) : whys.length;
      made.value = (made.value ?? 0) + whys.filter((why) => why === null).length;
      const problems = whys.slice(0, stop).flatMap((what, n) => {
        const line = rows[from + n]?.line ?? 0;
        return what === null ? [] : [{ line, what }];
      });
      missed.value = [...missed.value, ...problems];
      dealt.value = from + stop;
      if (answer.isStopped) throw new Refusal('stopped', whys.at(-1) ?? null);
    }
    onMade();
  }

  const close = () => {
    isOver.current = true;
    onClose();
  };
  const { mistakes = [], rows = [], skipped = [] } = found.value ?? {};
  const isDone = made.value !== null && dealt.value >= rows.length;
  const allSkipped = [...skipped, ...missed.value];
  return (
    <div class="form">
      <p class="hint">{words.importHint}</p>
      {found.value === null && (
        <Field
          label={texts.common.file}
          name="file"
          type="file"
          accept=".csv,text/csv,text/plain"
          onChange={({ currentTarget: { files } }) => read(files?.[0])}
        />
      )}
      {isReading.value && <p role="status">{words.linesRead(count.value)}</p>}
      <Problem of={problem} />
      {found.value !== null && (
        <>
          <p role="status">
            {isDone ? words.areReady(made.value ?? 0) : words.willBeMade(rows.length)}
          </p>
          <Lines title={words.areSkipped(allSkipped.length)} of={allSkipped} />
          <Lines title={words.areWrong(mistakes.length)} of={mistakes} />
        </>
      )}
      {rows.length > 0 && !isDone && (
        <Make made={made.value} count={rows.length} onMake={make} onCancel={close} />
      )}
      {(rows.length === 0 || isDone) && (
        <div class="actions">
          <Button label={texts.common.close} onClick={close} />
        </div>
      )}
    </div>
  );
}
