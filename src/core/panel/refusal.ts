/** The refusals of panels, so that apps made for a panel show its messages. */

/** Why a request for a subscription is refused. */
export type PanelReason =
  | 'hwid_required'
  | 'link_limit_reached'
  | 'link_not_found'
  | 'link_disabled';

export interface PanelRefusal {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The body; null: a subscription with one server whose name is the reason. */
  body: string | null;
}

/** The answer of panels that know no devices, and of those whose refusal is an absent address. */
export const NOT_FOUND: PanelRefusal = { status: 404, headers: {}, body: '' };
