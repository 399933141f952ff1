import { readdirSync, readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { newKeys } from '../../src/dashboard/access.ts'
import { pageFiles } from '../../src/dashboard/files.ts'
import { type Dashboard, startDashboard } from '../../src/dashboard/server.ts'
import type { Overview } from '../../src/insight/dashboard/overview.ts'
import type { Look } from '../../src/insight/dashboard/waiting.ts'
import type { Subject } from '../../src/insight/explain/explanation.ts'
import { SubjectError } from '../../src/insight/explain/find.ts'
import { systemClock } from '../../src/kube/vocabulary/clock.ts'
import { eventually } from '../support/eventually.ts'

const EMPTY: Overview = {
  ...{ cluster: 'https://cluster', engine: 'builtin', namespace: '', isComplete: true, revision: 1, trouble: '' },
  ...{ holding: 0, waiting: 0, reasons: [], queues: [], moreQueues: 0, minutes: [], latest: [], unseen: [] },
}

const keys = newKeys()
let open: Dashboard | undefined
let publish = (_overview: Overview | Error): void => {}

async function start(story: (subject: Subject) => Promise<never> = () => Promise.reject(new Error('away'))) {
  let current: Overview | Error = EMPTY
  let held: (() => void)[] | undefined
  const looks: (readonly [Look, number, number])[] = []
  const feed = {
    overview: async () => {
      await new Promise<void>(resolve => (held === undefined ? resolve() : held.push(resolve)))
      if (current instanceof Error) throw current
      return current
    },
    waiting: async (look: Look, from: number, count: number) => {
      looks.push([look, from, count])
      return { total: 0, rows: [] }
    },
    story,
    onChange: (changed: () => void) => {
      publish = overview => {
        current = overview
        changed()
      }
    },
  }
  open = await startDashboard({ feed, files: pageFiles(), keys, clock: systemClock, port: 0 })
  /** Nobody gets anything until what is returned is called. */
  const hold = () => {
    const asked: (() => void)[] = []
    held = asked
    const release = (): void => {
      held = undefined
      for (const resolve of asked) resolve()
    }
    return Object.assign(release, { waiting: () => asked.length })
  }
  return { page: open, looks, hold }
}

afterEach(async () => {
  await open?.close()
  open = undefined
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: string
}

/** With the headers that a test gives, Host among them, which fetch would not send. */
function ask(page: Dashboard, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port: page.port, host: '127.0.0.1', path, method, headers, agent: false }, response => {
      let body = ''
      response.setEncoding('utf8').on('data', text => {
        body += text
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.once('error', reject).end()
  })
}

const bearer = { authorization: `Bearer ${keys.token}` }

describe('the door of the dashboard', () => {
  it('opens to the token once in the address, then to the cookie that came with it', async () => {
    const { page } = await start()
    const [, path = ''] = /^http:\/\/127\.0\.0\.1:\d+(\/\?token=.+)$/.exec(page.url) ?? []
    const first = await ask(page, path)
    expect(first).toMatchObject({ status: 303, headers: { location: '/' } })
    const [cookie = ''] = first.headers['set-cookie'] as readonly string[]
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(cookie).not.toContain(keys.token)
    const session = cookie.split(';')[0] ?? ''
    expect(await ask(page, '/', { cookie: `other=1; ${session}` })).toMatchObject({ status: 200 })
    expect(await ask(page, '/app.js', bearer)).toMatchObject({ status: 200 })
  })

  it.each([
    ['nothing', {}],
    ['a wrong cookie', { cookie: 'muster-dashboard-1=x' }],
    ['a wrong token', { authorization: 'Bearer x' }],
    ['an empty token', { authorization: 'Bearer ' }],
  ])('stays shut to who brings %s, whatever he asks for', async (_what, headers) => {
    const { page } = await start()
    for (const path of ['/', '/app.js', '/follow', '/waiting', '/story?kind=pod&namespace=a&name=b', '/?token=x']) {
      expect(await ask(page, path, headers), path).toMatchObject({ status: 401 })
    }
  })

  it('answers to no other name than its own: a name of somebody else may resolve to this machine', async () => {
    const { page } = await start()
    for (const host of ['evil.example', `evil.example:${page.port}`, '127.0.0.1', `127.0.0.1:${page.port + 1}`]) {
      expect(await ask(page, '/', { ...bearer, host }), host).toMatchObject({ status: 421 })
    }
    expect(await ask(page, '/', { ...bearer, host: `localhost:${page.port}` })).toMatchObject({ status: 200 })
  })

  it('listens on 127.0.0.1 and on no other address of this machine', async () => {
    const { page } = await start()
    const elsewhere = new Promise((resolve, reject) => {
      const sent = httpRequest({ port: page.port, host: '127.0.0.2', path: '/', timeout: 5000, agent: false }, resolve)
      sent.on('timeout', () => sent.destroy(new Error('nobody answers')))
      sent.once('error', reject).end()
    })
    await expect(elsewhere).rejects.toThrow()
  })

  it('answers no other site, and changes nothing', async () => {
    const { page } = await start()
    expect(await ask(page, '/waiting', { ...bearer, origin: 'https://evil.example' })).toMatchObject({ status: 403 })
    expect(await ask(page, '/waiting', { ...bearer, 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 })
    expect(await ask(page, '/waiting', { ...bearer, 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 200 })
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect(await ask(page, '/', bearer, method), method).toMatchObject({ status: 405 })
    }
  })

  it('lets nothing in from elsewhere and makes no markup of text, on every answer', async () => {
    const { page } = await start()
    for (const [path, headers] of [
      ['/', bearer],
      ['/', {}],
      ['/waiting', bearer],
      ['/nothing', bearer],
    ] as const) {
      const { headers: got } = await ask(page, path, headers)
      expect(got['content-security-policy']).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
          "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      )
      expect(got).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
    }
  })

  it('gives files of the page and no others', async () => {
    const { page } = await start()
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/tsconfig.json', '//etc/passwd']) {
      expect((await ask(page, path, bearer)).status, path).not.toBe(200)
    }
  })
})

describe('what the dashboard tells', () => {
  it('of who waits is a page of rows, and never more than a screen needs', async () => {
    const { page, looks } = await start()
    await ask(page, '/waiting?from=100&count=100000&queue=a&reason=b&text=c&order=age', bearer)
    await ask(page, '/waiting?from=-5&count=x&order=x', bearer)
    expect(looks).toEqual([
      [{ queue: 'a', reason: 'b', text: 'c', order: 'age' }, 100, 200],
      [{ order: 'queue' }, 0, 0],
    ])
  })

  it('of a story that is not there, or a cluster that does not answer, is what is wrong', async () => {
    const { page } = await start(({ name }) =>
      Promise.reject(name === 'gone' ? new SubjectError('there is no pod gone') : new Error('away')),
    )
    const about = (name: string) => ask(page, `/story?kind=pod&namespace=ml&name=${name}`, bearer)
    expect(await about('gone')).toMatchObject({ status: 404, body: '{"error":"there is no pod gone"}' })
    expect(await about('other')).toMatchObject({ status: 502, body: '{"error":"away"}' })
    expect(await ask(page, '/story?kind=secret&namespace=ml&name=x', bearer)).toMatchObject({ status: 400 })
    expect(await ask(page, '/story?kind=pod&namespace=..%2F&name=x', bearer)).toMatchObject({ status: 400 })
  })

  it('comes as events: everything first, then what changes, and to who was away what he missed', async () => {
    const { page } = await start()
    const reader = follow(page)
    await eventually('the whole', () => reader.text.includes('event: whole'))
    publish({ ...EMPTY, revision: 2, waiting: 7 })
    await eventually('a change', () => reader.text.includes('event: change'))
    expect(reader.events().at(-1)).toEqual({
      event: 'change',
      data: { set: { revision: 2, waiting: 7 }, put: {}, gone: {} },
    })
    reader.end()
    const last = /id: (\S+)\n(?![\s\S]*id: )/.exec(reader.text)?.[1] ?? ''
    await eventually('nobody reads', () => reader.isOver)

    const second = follow(page)
    await eventually('the whole', () => second.text.includes('event: whole'))
    publish({ ...EMPTY, revision: 3, waiting: 8 })
    await eventually('a change', () => second.text.includes('event: change'))
    second.end()

    const back = follow(page, { 'last-event-id': last })
    await eventually('what was missed', () => back.text.includes('event: change'))
    expect(back.events()).toEqual([{ event: 'change', data: { set: { revision: 3, waiting: 8 }, put: {}, gone: {} } }])
    back.end()

    const stranger = follow(page, { 'last-event-id': 'other.1' })
    await eventually('the whole', () => stranger.text.includes('event: whole'))
    stranger.end()
  })

  it('forgets pages that were closed before they got anything', async () => {
    const { page, hold } = await start()
    const release = hold()
    for (let round = 0; round < 20; round++) {
      const reader = follow(page)
      await eventually('it has asked', () => release.waiting() === round + 1)
      reader.end()
    }
    // The server hears of a closed connection before it hears of the next request on another one.
    await ask(page, '/', bearer)
    release()
    const reader = follow(page)
    await eventually('the whole', () => reader.text.includes('event: whole'))
    reader.end()
  })

  it('ends where it cannot be reckoned, so that the page says so and asks again, and goes on after that', async () => {
    const { page } = await start()
    const reader = follow(page)
    await eventually('the whole', () => reader.text.includes('event: whole'))
    publish(new Error('an object that nobody has thought of'))
    await eventually('it is over', () => reader.isOver)
    publish({ ...EMPTY, revision: 2 })
    const second = follow(page)
    await eventually('the whole', () => second.text.includes('event: whole'))
    second.end()
  })

  it('comes whole to who was away for longer than is remembered', async () => {
    const { page } = await start()
    const [first, witness] = [follow(page), follow(page)]
    await eventually('both read', () => [first, witness].every(({ text }) => text.includes('event: whole')))
    publish({ ...EMPTY, revision: 2 })
    await eventually('a change', () => first.text.includes('event: change'))
    const last = /id: (\S+)\n(?![\s\S]*id: )/.exec(first.text)?.[1] ?? ''
    first.end()
    for (let revision = 3; revision < 80; revision++) {
      publish({ ...EMPTY, revision })
      await eventually('it was told', () => witness.text.includes(`"revision":${revision}`))
    }
    const back = follow(page, { 'last-event-id': last })
    await eventually('something', () => back.text.includes('event: '))
    expect(back.events()[0]).toMatchObject({ event: 'whole', data: { revision: 79 } })
    for (const reader of [back, witness]) reader.end()
  })

  it('goes to sixteen open pages, and the seventeenth is told why it does not', async () => {
    const { page } = await start()
    const readers = Array.from({ length: 16 }, () => follow(page))
    await eventually('all read', () => readers.every(({ text }) => text.includes('event: whole')))
    expect(await ask(page, '/follow', bearer)).toMatchObject({ status: 503 })
    for (const reader of readers) reader.end()
  })
})

function follow(page: Dashboard, headers: Record<string, string> = {}) {
  const reader = {
    text: '',
    isOver: false,
    end: (): void => {},
    events: () =>
      [...reader.text.matchAll(/event: (\w+)\nid: \S+\ndata: (.+)\n/g)].map(([, event, data = '']) => ({
        event,
        data: JSON.parse(data),
      })),
  }
  const sent = httpRequest(
    { port: page.port, host: '127.0.0.1', path: '/follow', headers: { ...bearer, ...headers }, agent: false },
    response => {
      response.setEncoding('utf8').on('data', text => {
        reader.text += text
      })
      response.on('close', () => {
        reader.isOver = true
      })
    },
  )
  sent.on('error', () => {}).end()
  reader.end = () => sent.destroy()
  return reader
}

describe('the files of the page', () => {
  const folder = fileURLToPath(new URL('../../dashboard/', import.meta.url))
  const scripts = readdirSync(folder).filter(name => name.endsWith('.js'))

  it.each(scripts)('%s makes no markup of text, evaluates nothing and loads nothing from elsewhere', name => {
    const code = readFileSync(`${folder}${name}`, 'utf8')
    expect(code).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc/,
    )
    expect(code.match(/https?:\/\/[^\s'"`]+/g) ?? []).toEqual(name === 'dom.js' ? ['http://www.w3.org/2000/svg'] : [])
  })

  it('are named by the page, and name each other, and all are there', () => {
    const files = pageFiles()
    const named = [...(files.get('/')?.body.toString() ?? '').matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(
      ([, path = '']) => path,
    )
    expect(named.length).toBeGreaterThan(3)
    const imported = scripts.flatMap(name =>
      [...readFileSync(`${folder}${name}`, 'utf8').matchAll(/from '\.(\/\w+\.js)'/g)].map(([, path = '']) => path),
    )
    for (const path of [...named, ...imported]) expect(files.has(path), path).toBe(true)
  })
})
