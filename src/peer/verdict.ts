/** The verdict of a case that a scripted peer played; each kind of cases adds its reasons. */
export interface PeerVerdict {
  case: string;
  verdict: 'passed' | 'failed' | 'skipped';
}
