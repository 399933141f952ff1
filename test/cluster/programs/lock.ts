import { mkdir, open, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const HEARTBEAT_MS = 2_000
const ABANDONED_AFTER_MS = 15_000

/**
 * Runs `task` while holding the lock file. The holder keeps the file's time fresh; a file that has not been touched
 * for a while belongs to a run that died. A process id would not tell: continuous integration often shares a cache
 * between containers, where the same id is another process. Should two runs ever build at once, that costs time
 * only, because finished programs are renamed into place.
 */
export async function withLock<T>(path: string, onWait: () => void, task: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true })
  while (!(await take(path))) {
    onWait()
    await sleep(500)
  }
  const heartbeat = setInterval(() => {
    const now = new Date()
    // The folder may have been wiped under us; the build then fails by itself with a better message.
    utimes(path, now, now).catch(() => undefined)
  }, HEARTBEAT_MS)
  try {
    return await task()
  } finally {
    clearInterval(heartbeat)
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, 'wx')).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const held = await stat(path).catch(() => undefined)
  if (held && Date.now() - held.mtimeMs > ABANDONED_AFTER_MS) await rm(path, { force: true })
  return false
}
