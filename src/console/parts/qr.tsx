/** A QR code as one SVG path: the page allows no `innerHTML`. */

import { encode } from 'uqr';
import { texts } from '../state.ts';

const pathOf = (data: readonly (readonly boolean[])[]) =>
  data
    .flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
    .join('');

/** Returns the squares; null: the text is too long for a code. */
function codeOf(text: string): ReturnType<typeof encode> | null {
  try {
    return encode(text, { border: 2 });
  } catch {
    return null;
  }
}

/** Draws a code; draws nothing if the text is too long. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = codeOf(text);
  if (code === null) return <p class="hint">{texts.link.tooLong}</p>;
  return (
    <svg class="qr" viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={label}>
      <path d={pathOf(code.data)} />
    </svg>
  );
}

/** Returns the addresses of the code as SVG and PNG; null: the text is too long. */
export function qrFiles(text: string): { svg: string; png: string } | null {
  const code = codeOf(text);
  return code && { svg: svgOf(code), png: pngOf(code) };
}

type Code = ReturnType<typeof encode>;

function svgOf({ data, size }: Code): string {
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}">` +
    `<rect width="${size}" height="${size}" fill="#fff"/><path d="${pathOf(data)}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Pixels per square. */
const SCALE = 12;

function pngOf({ data, size }: Code): string {
  const canvas = document.createElement('canvas');
  canvas.width = size * SCALE;
  canvas.height = size * SCALE;
  const ground = canvas.getContext('2d');
  if (ground === null) return '';
  ground.fillStyle = '#fff';
  ground.fillRect(0, 0, canvas.width, canvas.height);
  ground.fillStyle = '#000';
  for (const [y, row] of data.entries()) {
    for (const [x, isDark] of row.entries()) {
      if (isDark) ground.fillRect(x * SCALE, y * SCALE, SCALE, SCALE);
    }
  }
  return canvas.toDataURL('image/png');
}
