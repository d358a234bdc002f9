/** One remedy for each cause: findings that another finding explains are left out. */

import type { Finding } from '../base/finding.ts';

/** Findings, by their names, that follow from another one and end with it. */
const EFFECTS: Readonly<Record<string, readonly string[]>> = {
  data_directory_missing: ['server_not_running', 'database_missing', 'database_unreadable'],
  data_directory_is_a_file: ['server_not_running', 'database_missing', 'database_unreadable'],
  data_directory_not_writable: ['server_state_unknown', 'database_unreadable'],
  data_file_of_other_user: ['server_state_unknown', 'database_unreadable'],
};

/** Leaves out effects of other findings, and a cause that two checks found. */
export function causesOf(findings: readonly Finding[]): Finding[] {
  const effects = new Set(findings.flatMap(({ name }) => EFFECTS[name] ?? []));
  const known = new Set<string>();
  return findings.filter(({ name, level, subject }) => {
    if (level === 'ok') return true;
    const cause = `${name} ${subject}`;
    if (effects.has(name) || known.has(cause)) return false;
    known.add(cause);
    return true;
  });
}

/** Names the newest backup in the remedy of a damaged database; null: there is none. */
export function withBackup(findings: readonly Finding[], file: string | null): Finding[] {
  return findings.map((finding) =>
    finding.name === 'database_damaged' && finding.todo !== null && file !== null
      ? { ...finding, todo: `${finding.todo}: the newest is ${file}` }
      : finding,
  );
}
