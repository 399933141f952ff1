import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collect, spawnMuster } from '../support/process.ts'
import { Chromium, findChromium, type Page } from './support/chromium.ts'
import { busyAfternoon, Cluster } from './support/cluster.ts'

const PROGRAM = findChromium()
/** Fewer make a quick try. */
const MASS = Number(process.env.MUSTER_BROWSER_PODS ?? 10_000)
const EVIL = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=2</script>'
const REVERSED = 'safe\u202egnp.exe'

let folder: string
let cluster: Cluster
let chromium: Chromium
let page: Page
let dashboard: ReturnType<typeof spawnMuster>
let port: string

/** As somebody starts it at a terminal. */
async function startDashboard(onPort = '0'): Promise<string> {
  dashboard = spawnMuster(['dashboard', '--no-open', '--port', onPort, '--kubeconfig', join(folder, 'kubeconfig')])
  const output = collect(dashboard)
  for (;;) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/\?token=\S+/.exec(output().stdout)?.[0]
    if (url !== undefined) return url
    if (dashboard.exitCode !== null) throw new Error(output().stderr)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

async function end(child: ReturnType<typeof spawnMuster>): Promise<void> {
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGINT')
  await ended
}

/** No API server would store these; whoever trusts that trusts more than he must. */
function addHostile(into: Cluster): void {
  const workload = into.add({ name: 'mallory', queue: 'team-b' }, { cpu: '1' })
  into.decide('team-b')
  const [pod] = into.podsOf(workload)
  if (pod === undefined) throw new Error('a workload without pods')
  into.tell(pod.metadata, EVIL, `${EVIL} ${REVERSED}`, Date.now(), 'Warning')
  const evil = {
    ...workload,
    metadata: { ...workload.metadata, name: EVIL, uid: 'evil', annotations: {}, ownerReferences: [] },
  }
  into.put('/apis/muster.dev/v1alpha1', 'workloads', {
    ...evil,
    ...({ spec: { ...workload.spec, queueName: EVIL } } as object),
  })
}

const ROWS = `[...document.querySelectorAll('.sizer .row:not(.unread)')]`
const GRID = `document.querySelector('.grid')`
const rowWith = (text: string): string => `${ROWS}.find(row => row.textContent.includes(${JSON.stringify(text)}))`
const ACTIVE = `document.getElementById(${GRID}.getAttribute('aria-activedescendant'))`

async function search(text: string): Promise<void> {
  await page.evaluate(
    `(input => { input.value = ${JSON.stringify(text)}; input.dispatchEvent(new Event('input')) })(document.querySelector('input[type=search]'))`,
  )
}

describe.skipIf(PROGRAM === undefined)('the dashboard in a browser', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'muster-browser-'))
    cluster = await Cluster.start()
    busyAfternoon(cluster, MASS)
    cluster.kubeconfig(join(folder, 'kubeconfig'))
    chromium = await Chromium.start(PROGRAM ?? '')
    page = await chromium.open()
    await page.size(1440, 1000)
    const url = await startDashboard()
    port = new URL(url).port
    await page.goto(url)
    await page.until(`document.querySelector('[data-state=live]') && ${ROWS}.length > 5`)
  })

  afterAll(async () => {
    await chromium?.stop()
    await end(dashboard)
    await cluster?.server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('shows the queues as bars, who waits and why, and who was admitted', async () => {
    const bars = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('[role=meter]')].map(bar => bar.getAttribute('aria-valuetext'))`,
    )
    expect(bars).toContain('40 of 40 pods in use')
    const reasons = await page.evaluate<string>(`document.querySelector('.reasons').textContent`)
    expect(reasons).toMatch(/WaitingForPods 1.*WaitingForAdmission [\d,]+.*OverQueueLimits \d/)
    expect(await page.evaluate(`document.querySelectorAll('.latest li').length`)).toBeGreaterThan(50)
    expect(await page.evaluate(`document.querySelectorAll('figure rect').length`)).toBe(30)
  })

  it('keeps the token out of the address, and asks nobody but its own server', async () => {
    expect(await page.evaluate(`location.href`)).toBe(`http://127.0.0.1:${port}/`)
    expect(page.requests.filter(url => !url.startsWith(`http://127.0.0.1:${port}/`) && url !== 'about:blank')).toEqual(
      [],
    )
  })

  it('holds ten thousand in the list and draws a screen of them, to the last', async () => {
    const total = await page.evaluate<number>(`Number(${GRID}.getAttribute('aria-rowcount')) - 1`)
    expect(total).toBeGreaterThan(MASS)
    await page.evaluate(`document.querySelector('.scroller').scrollTop = 1e9`)
    await page.until(`${ROWS}.some(row => row.getAttribute('aria-rowindex') === '${total + 1}')`)
    await page.evaluate(`document.querySelector('.scroller').scrollTop = ${MASS / 2} * 40`)
    await page.until(`${ROWS}.some(row => row.getAttribute('aria-rowindex') === '${MASS / 2 + 2}')`)
    expect(await page.evaluate(`document.querySelectorAll('.sizer .row').length`)).toBeLessThan(80)
    expect(await page.evaluate(`document.querySelectorAll('*').length`)).toBeLessThan(4000)
    expect(await page.heap()).toBeLessThan(20e6)
    await page.evaluate(`document.querySelector('.scroller').scrollTop = 0`)
  })

  it('follows: who ends leaves, who is next starts, and the bars move, without a reload', async () => {
    const next = await page.evaluate<string>(
      `fetch('/waiting?queue=nightly&count=1').then(answer => answer.json()).then(({ rows }) => rows[0].subject.name)`,
    )
    const admitted = `[...document.querySelectorAll('.latest li')].some(line => line.textContent.includes('${next}'))`
    expect(await page.evaluate(admitted)).toBe(false)
    cluster.finish(cluster.holderOf('nightly'))
    cluster.decide('nightly')
    await page.until(admitted)
    expect(await page.evaluate(`performance.getEntriesByType('navigation').length`)).toBe(1)
  })

  it('works by keyboard: a link past all else, one stop for the list, arrows in it, Enter and Escape for a story', async () => {
    await search('ml/report')
    await page.until(`${ROWS}.length === 9 && ${rowWith('report-9')}`)
    await page.evaluate(`document.activeElement.blur()`)
    await page.press('Tab')
    expect(await page.evaluate(`document.activeElement.textContent`)).toBe('Skip to who waits')
    await page.press('Enter')
    await page.until(`document.activeElement.id === 'waiting'`)
    for (let stops = 0; stops < 20 && !(await page.evaluate(`document.activeElement === ${GRID}`)); stops++)
      await page.press('Tab')
    const at = () => page.evaluate<string>(`${ACTIVE}.getAttribute('aria-rowindex')`)
    expect(await at()).toBe('2')
    await page.press('ArrowDown')
    await page.press('ArrowDown')
    await page.press('ArrowUp')
    expect(await at()).toBe('3')
    await page.press('End')
    expect(Number(await at())).toBe(await page.evaluate(`Number(${GRID}.getAttribute('aria-rowcount'))`))
    await page.press('Home')
    expect(await at()).toBe('2')
    const name = await page.evaluate<string>(`${ACTIVE}.querySelector('bdi').textContent`)
    await page.press('Enter')
    await page.until(
      `!document.querySelector('muster-story').hidden && document.querySelectorAll('.moments li').length > 1`,
    )
    expect(await page.evaluate(`document.activeElement.id`)).toBe('story-title')
    expect(await page.evaluate(`document.activeElement.textContent`)).toContain(name)
    await page.press('Escape')
    await page.until(`document.querySelector('muster-story').hidden && document.activeElement === ${GRID}`)
  })

  it('tells the story of a group: what happened in order, its pods, and what would start it', async () => {
    await search('llm-train')
    await page.until(`${ROWS}.length === 1 && ${rowWith('llm-train')}`)
    await page.evaluate(`${rowWith('llm-train')}.click()`)
    await page.until(`document.querySelectorAll('muster-story tbody tr').length === 16`)
    const titles = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.moments b')].map(title => title.textContent)`,
    )
    expect(titles).toEqual(['Created', 'Queued', 'WaitingForPods', 'QuotaReserved: False', 'OverQueueLimits'])
    const times = await page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.moments time')].map(time => time.dateTime)`,
    )
    expect(times).toEqual(times.toSorted())
    expect(await page.evaluate(`document.querySelector('.would').textContent`)).toMatch(
      /if it asks for at most .*: now/,
    )
  })

  it('is light or dark as the system says, and as its switch says', async () => {
    const ground = () => page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`)
    await page.prefer('light')
    const light = await ground()
    await page.prefer('dark')
    const dark = await ground()
    expect(light).not.toBe(dark)
    await page.evaluate(`document.querySelector('[data-choice=light]').click()`)
    expect(await ground()).toBe(light)
    await page.prefer('light')
    await page.evaluate(`document.querySelector('[data-choice=dark]').click()`)
    expect(await ground()).toBe(dark)
    await page.evaluate(`document.querySelector('[data-choice=system]').click()`)
    expect(await ground()).toBe(light)
  })

  it('is drawn for whoever looks: with the story, light, dark and narrow', async () => {
    const out = process.env.MUSTER_SCREENSHOTS
    await search('')
    await page.until(`${ROWS}.length > 10`)
    await page.evaluate(
      `[...document.querySelectorAll('.card button')].find(button => button.textContent === 'research').click()`,
    )
    await page.until(rowWith('llm-train'))
    const wide = await page.evaluate<number>(`document.documentElement.scrollWidth`)
    expect(wide).toBeLessThanOrEqual(1440)
    if (out !== undefined) mkdirSync(out, { recursive: true })
    const shoot = async (name: string): Promise<void> => {
      await new Promise(resolve => setTimeout(resolve, 400))
      if (out !== undefined) await page.screenshot(join(out, `dashboard-${name}.webp`))
    }
    await page.evaluate(`document.querySelector('.filter').click()`)
    await search('ml/')
    await page.until(rowWith('report-9'))
    await page.prefer('light')
    await shoot('light')
    await page.prefer('dark')
    await page.evaluate(`${rowWith('llm-train')}.click()`)
    await page.until(`document.querySelectorAll('.moments li').length > 1`)
    await shoot('dark')
    await page.evaluate(`document.querySelector('muster-story .close').click()`)
    await page.size(400, 900)
    await page.until(`document.documentElement.scrollWidth <= 400`)
    await shoot('narrow')
    await page.size(1440, 1000)
    await page.prefer('light')
  })

  it('shows hostile names as names, and makes nothing of them', async () => {
    addHostile(cluster)
    await search('')
    await page.until(
      `[...document.querySelectorAll('.card button')].some(button => button.textContent === ${JSON.stringify(EVIL)})`,
    )
    await page.evaluate(
      `[...document.querySelectorAll('.card button')].find(button => button.textContent === ${JSON.stringify(EVIL)}).click()`,
    )
    await page.until(`${ROWS}.length === 1 && ${rowWith(EVIL)}`)
    await page.evaluate(`document.querySelector('.filter').click()`)
    await search('mallory')
    await page.until(`${ROWS}.length === 1 && ${rowWith('mallory')}`)
    await page.evaluate(`${rowWith('mallory')}.click()`)
    await page.until(
      `[...document.querySelectorAll('.moments b')].some(title => title.textContent === ${JSON.stringify(EVIL)})`,
    )
    expect(await page.evaluate(`globalThis.hacked === undefined`)).toBe(true)
    expect(
      await page.evaluate(
        `document.querySelectorAll('main img, muster-story img, main script, muster-story script').length`,
      ),
    ).toBe(0)
    expect(page.complaints).toEqual([])
    const refused = `(() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return false } catch { return true } })()`
    expect(await page.evaluate(refused)).toBe(true)
    page.complaints.length = 0
    await page.evaluate(`document.querySelector('muster-story .close').click()`)
    await search('')
  })

  it('says so when the cluster is away, and when it is back', async () => {
    cluster.server.away = true
    cluster.server.resetConnections()
    await page.until(`document.querySelector('[data-state=stale]') && document.querySelector('.note.bad')`)
    cluster.server.away = false
    await page.until(`document.querySelector('[data-state=live]') && !document.querySelector('.note.bad')`)
  })

  it('says so when its own server is gone, and goes on by itself when that is back at the same place', async () => {
    expect(page.complaints).toEqual([])
    await page.evaluate(`globalThis.same = true`)
    await end(dashboard)
    await page.until(`document.querySelector('[data-state=lost]')`)
    const url = await startDashboard(port)
    // A new server has new keys: the page that is open cannot know them until somebody opens the new address.
    await page.evaluate(`fetch(${JSON.stringify(url)})`)
    await page.until(`document.querySelector('[data-state=live]')`)
    expect(await page.evaluate(`globalThis.same`)).toBe(true)
  })
})
