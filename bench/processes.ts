import { readFileSync } from 'node:fs'

export const residentMb = (pid: number | undefined): number => megabytes(pid, /VmRSS:\s+(\d+) kB/)

/** The most that was ever resident. */
export const peakMb = (pid: number | undefined): number => megabytes(pid, /VmHWM:\s+(\d+) kB/)

function megabytes(pid: number | undefined, line: RegExp): number {
  const match = line.exec(procFile(pid, 'status'))
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
