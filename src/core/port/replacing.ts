/** Notifications that replace others: records of the port. */

/** The facts that decide whether a notification may be replaced. */
export interface Replaceable {
  notificationType: number;
  status: number;
  targetOs: string | null;
  targetHwid: string;
  segment: string | null;
  /** Null: its delivery has not begun. */
  beganAtMs: number | null;
  expiresAtMs: number;
  /** The notification that it replaced itself; null: none. */
  replacesId: number | null;
}

/** Refusals of a notification that is to replace another: see core/message/replacing.ts. */
export type ReplaceRefusal =
  | 'replaced_unknown'
  | 'replaced_elsewhere'
  | 'replaced_ended'
  | 'replaced_waits';
