/** A bar that shows a share. */

interface ShareProps {
  /** 0 to 1; a larger share fills the bar. */
  of: number;
  /** True if a bound is near: the bar has another colour. */
  isHigh?: boolean;
  width?: number;
}

export function Share({ of, isHigh = false, width = 100 }: ShareProps) {
  return (
    <svg viewBox={`0 0 ${width} 6`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="share-all" width={width} height="6" rx="3" />
      <rect
        class={isHigh ? 'share-full' : 'share-part'}
        width={width * Math.min(1, of)}
        height="6"
        rx="3"
      />
    </svg>
  );
}
