/**
 * Where what is installed in the cluster and Muster's configuration disagree.
 * - `slips`: what Muster has to judge and the API server does not send.
 * - `wasted`: what is sent although Muster's configuration ignores it.
 * - `blocked`: what is refused although Muster's configuration lets it pass.
 * - `unclear`: a condition that nobody but the API server can judge.
 */
export interface Finding {
  readonly kind: 'slips' | 'wasted' | 'blocked' | 'unclear'
  readonly text: string
}
