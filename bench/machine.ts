import { cpus, totalmem } from 'node:os'

/** In a sentence about what was measured. */
export function machine(): string {
  const [cpu, ...others] = cpus()
  const memory = Math.round(totalmem() / 1024 ** 3)
  return `${others.length + 1} cores (${cpu?.model.trim()}), ${memory} GiB`
}
