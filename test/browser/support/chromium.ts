import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

export const HOW_TO_GET_ONE =
  'npm run test:browser needs Chromium: on Debian and Ubuntu apt-get install chromium; elsewhere set CHROMIUM to the path of one'

/** `CHROMIUM`, or the first on the PATH. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const places = NAMES.flatMap(name => folders.map(folder => join(folder, name)))
  return (process.env.CHROMIUM ? [process.env.CHROMIUM] : places).find(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A sandbox of its own Chromium cannot make as root; and it is to ask nobody on the network for anything. */
const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--hide-scrollbars'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
  ...['--remote-debugging-port=0', '--disable-features=Translate', '--force-device-scale-factor=1', 'about:blank'],
]

interface Answer {
  readonly id?: number
  readonly method?: string
  readonly sessionId?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly message: string }
}

type Listener = (method: string, params: Readonly<Record<string, unknown>>) => void

/** A real browser, driven over its own protocol: no package comes between. */
export class Chromium {
  readonly #process: ChildProcess
  readonly #socket: WebSocket
  readonly #profile: string
  readonly #waiting = new Map<number, (answer: Answer) => void>()
  readonly #listeners = new Map<string, Listener>()
  #id = 0

  private constructor(process: ChildProcess, socket: WebSocket, profile: string) {
    this.#process = process
    this.#socket = socket
    this.#profile = profile
    socket.addEventListener('message', ({ data }) => this.#hear(JSON.parse(String(data)) as Answer))
  }

  static async start(program: string): Promise<Chromium> {
    const profile = mkdtempSync(join(tmpdir(), 'muster-chromium-'))
    const child = spawn(program, [`--user-data-dir=${profile}`, ...FLAGS], { stdio: ['ignore', 'ignore', 'pipe'] })
    const address = await new Promise<string>((resolve, reject) => {
      child.once('exit', code => reject(new Error(`Chromium ended with ${code} before it listened`)))
      child.once('error', reject)
      createInterface(child.stderr).on('line', line => {
        const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
    const socket = new WebSocket(address)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', reject)
    })
    return new Chromium(child, socket, profile)
  }

  async open(): Promise<Page> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    return await Page.of(this, String(sessionId))
  }

  async stop(): Promise<void> {
    const ended = new Promise(resolve => this.#process.once('exit', resolve))
    this.#socket.close()
    this.#process.kill('SIGKILL')
    await ended
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }

  async send(method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#id
    const answer = await new Promise<Answer>(resolve => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))
    })
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`)
    return answer.result ?? {}
  }

  listen(sessionId: string, listener: Listener): void {
    this.#listeners.set(sessionId, listener)
  }

  #hear(answer: Answer): void {
    if (answer.id !== undefined) {
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    } else this.#listeners.get(answer.sessionId ?? '')?.(answer.method ?? '', answer.params ?? {})
  }
}

/** One tab, as somebody at a keyboard has it. */
export class Page {
  /** What the browser complained of: errors of scripts, and what the policy of the page forbade. */
  readonly complaints: string[] = []
  /** Every address that was asked for. */
  readonly requests: string[] = []
  readonly #send: (method: string, params?: object) => Promise<Readonly<Record<string, unknown>>>

  private constructor(chromium: Chromium, session: string) {
    this.#send = (method, params) => chromium.send(method, params, session)
    chromium.listen(session, (method, params) => {
      if (method === 'Network.requestWillBeSent') this.requests.push((params.request as { url: string }).url)
      if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') {
        this.complaints.push(JSON.stringify(params).slice(0, 600))
      }
    })
  }

  static async of(chromium: Chromium, session: string): Promise<Page> {
    const page = new Page(chromium, session)
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.#send(`${domain}.enable`)
    return page
  }

  async goto(url: string): Promise<void> {
    await this.#send('Page.navigate', { url })
    await this.until(`location.href !== 'about:blank' && document.readyState === 'complete'`)
  }

  async size(width: number, height: number): Promise<void> {
    await this.#send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
  }

  async prefer(scheme: 'light' | 'dark'): Promise<void> {
    await this.#send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
  }

  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#send('Runtime.evaluate', {
      ...{ expression, awaitPromise: true, returnByValue: true },
    })
    if (exceptionDetails !== undefined)
      throw new Error(`${expression}: ${JSON.stringify(exceptionDetails).slice(0, 400)}`)
    return (result as { value: T }).value
  }

  /** Waits for what will come: how long that takes is the machine's affair. */
  async until(condition: string, patienceMs = 240_000): Promise<void> {
    const end = performance.now() + patienceMs
    for (;;) {
      const isSo = await this.evaluate<boolean>(`Boolean(${condition})`).catch(() => false)
      if (isSo) return
      if (performance.now() > end) throw new Error(`it never became true: ${condition}`)
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  async press(key: string): Promise<void> {
    const [code = 0, text] = KEYS[key] ?? []
    const event = { key, code: key, windowsVirtualKeyCode: code, ...(text !== undefined && { text }) }
    await this.#send('Input.dispatchKeyEvent', { type: text === undefined ? 'rawKeyDown' : 'keyDown', ...event })
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
  }

  async type(text: string): Promise<void> {
    await this.#send('Input.insertText', { text })
  }

  async screenshot(file: string): Promise<void> {
    const { data } = await this.#send('Page.captureScreenshot', { format: 'webp', quality: 82 })
    writeFileSync(file, Buffer.from(String(data), 'base64'))
  }

  /** Bytes of the script heap, after what nobody needs is gone. */
  async heap(): Promise<number> {
    await this.#send('HeapProfiler.collectGarbage')
    return Number((await this.#send('Runtime.getHeapUsage')).usedSize)
  }
}

const KEYS: Readonly<Record<string, readonly [number, string?]>> = {
  Tab: [9],
  Enter: [13, '\r'],
  Escape: [27],
  PageUp: [33],
  PageDown: [34],
  End: [35],
  Home: [36],
  ArrowUp: [38],
  ArrowDown: [40],
}
