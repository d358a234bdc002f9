import { ERROR_CODES } from '../src/operator-error.ts';

/** The table of docs/operating.md. */
export function errorCodeTable(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, about]) => `| \`${code}\` | ${about} |`);
  return ['| Code | Meaning |', '|---|---|', ...rows].join('\n');
}
