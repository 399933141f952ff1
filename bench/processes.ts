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

/** Of all cores together since the machine started, other people's machines on the same cores included. */
export function busyMicros(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = machineTimes()
  return (user + nice + system + irq + softirq + steal) * 10_000
}

function machineTimes(): readonly number[] {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n')
    return line.split(/\s+/).slice(1).map(Number)
  } catch {
    return []
  }
}

/** Only Linux has these; elsewhere the columns stay empty. */
function procFile(pid: number | undefined, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
