import { readFileSync } from 'node:fs'
import { bundleCertificates } from '../tls/authority.ts'

/** Something the person who starts Muster can put right; the message says what. */
export class StartError extends Error {
  readonly code: number

  constructor(error: unknown, code: number) {
    super(error instanceof Error ? error.message : String(error))
    this.code = code
  }
}

/** Where the disk says no, a code alone would not tell what to do. */
export function certificateProblem(folder: string, error: NodeJS.ErrnoException): string {
  if (error.syscall === undefined) return error.message
  return `certificates cannot be kept in ${folder} (${error.code}): choose a folder of yours with --certs-dir`
}

/** Certificates that can be read: with none of them nobody could ever call. */
export function readAuthority(file: string | undefined): string | Error | undefined {
  if (file === undefined) return undefined
  try {
    const pem = readFileSync(file, 'utf8')
    bundleCertificates(pem)
    return pem
  } catch (error) {
    return new Error(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
