/**
 * Loaded before a server that runs from its source (`--preload`): from then on its process has a
 * machine's clock that is apart by `TEST_CLOCK_APART_MS`. The product knows nothing of it.
 */

const apartMs = Number(process.env['TEST_CLOCK_APART_MS']);
if (!Number.isFinite(apartMs)) throw new Error('TEST_CLOCK_APART_MS is missing');
const trueNow = Date.now;
Date.now = () => trueNow() + apartMs;
