/** Version and commit of this program. `make build` fills in the commit. */

import { version } from '../../package.json';

declare const GATEPOST_COMMIT: string | undefined;

export const VERSION: string = version;
/** Commit that the executable was built from, or `source` when it runs from source. */
export const COMMIT: string = typeof GATEPOST_COMMIT === 'string' ? GATEPOST_COMMIT : 'source';
