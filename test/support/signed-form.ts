/** The form of the tokens of a panel that signs them. */

import type { SignedForm } from '../../src/core/panel/key-form.ts';
import { type PanelKind, signedForm } from '../../src/core/panel/kind.ts';

export function formOf(panel: PanelKind): SignedForm {
  const form = signedForm(panel);
  if (form === null) throw new Error(`${panel} signs no tokens`);
  return form;
}
