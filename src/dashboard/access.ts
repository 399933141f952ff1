import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** What lets somebody in. The token stands in the address once; the session lives in a cookie from then on. */
export interface Keys {
  readonly token: string
  readonly session: string
}

export function newKeys(): Keys {
  return { token: randomBytes(32).toString('base64url'), session: randomBytes(32).toString('base64url') }
}

/** A request, as far as it decides whether it is answered. */
export interface Knock {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

export type Door =
  | { readonly kind: 'open' }
  /** It brings the token: it gets the cookie, and is sent to the same page without the token. */
  | { readonly kind: 'welcome'; readonly cookie: string }
  | { readonly kind: 'closed'; readonly status: number; readonly text: string }

const closed = (status: number, text: string): Door => ({ kind: 'closed', status, text })

/** Cookies know no ports: with its port in the name, each dashboard of a machine keeps its own. */
export const cookieName = (port: number): string => `muster-dashboard-${port}`

/**
 * Every page of every site can make a browser ask this port, and a name that first resolved to a site of theirs can
 * resolve to this machine later. So a request is answered when it names this very address, comes from no other site,
 * only reads, and brings what only the terminal has shown.
 */
export function atTheDoor({ method, url, headers }: Knock, keys: Keys, port: number): Door {
  const own = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!own.includes(one(headers.host))) return closed(421, `This is ${own[0]}, and nothing else.`)
  const origin = one(headers.origin)
  if (origin !== '' && !own.some(host => origin === `http://${host}`)) return closed(403, 'Another site asks.')
  const site = one(headers['sec-fetch-site'])
  const isVisit = one(headers['sec-fetch-mode']) === 'navigate' && url.pathname === '/'
  if (!['', 'none', 'same-origin'].includes(site) && !isVisit) return closed(403, 'Another site asks.')
  if (method !== 'GET' && method !== 'HEAD') return closed(405, 'There is nothing to change here.')
  const token = url.searchParams.get('token')
  if (token !== null && url.pathname === '/') {
    if (!same(token, keys.token)) return closed(401, LOST)
    const cookie = `${cookieName(port)}=${keys.session}; Path=/; HttpOnly; SameSite=Strict`
    return { kind: 'welcome', cookie }
  }
  const bearer = /^Bearer (.+)$/.exec(one(headers.authorization))?.[1]
  const isIn = bearer === undefined ? same(cookieIn(headers, port), keys.session) : same(bearer, keys.token)
  return isIn ? { kind: 'open' } : closed(401, LOST)
}

const LOST = 'Open the address that muster dashboard has printed: it has a token in it, and this one has not.'

const one = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value : (value?.[0] ?? '')

function cookieIn(headers: Knock['headers'], port: number): string {
  const start = `${cookieName(port)}=`
  const cookies = one(headers.cookie).split(';')
  return (
    cookies
      .map(cookie => cookie.trim())
      .find(cookie => cookie.startsWith(start))
      ?.slice(start.length) ?? ''
  )
}

/** In the same time, whatever is the same. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Nothing is loaded from elsewhere, nothing is framed, and no text becomes markup: the browser itself refuses to make
 * HTML of a string here (Trusted Types), so a name from the cluster stays a name.
 */
export const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}
