import { readFileSync } from 'node:fs'

export function residentMb(pid: number | undefined): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(procFile(pid, 'status'))
  return match === null ? Number.NaN : Number(match[1]) / 1024
}

/** User and system time of all threads so far, in microseconds. The kernel counts in hundredths of a second. */
export function cpuMicros(pid: number | undefined): number {
  const fields = procFile(pid, 'stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

/** Only Linux has these; elsewhere the columns stay empty. */
function procFile(pid: number | undefined, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
