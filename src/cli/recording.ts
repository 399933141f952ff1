import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AdmissionRequest } from '../admission/review.ts'
import { type Fields, isObject } from '../kube/vocabulary/fields.ts'
import type { Webhook } from '../webhooks/webhook.ts'

/** A recording is for making test cases; a server that is forgotten in this mode must not fill a disk. */
const MOST_FILES = 10_000
const REDACTED = 'redacted'
/** kubectl keeps the whole object in it, secrets included. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

/**
 * `muster serve --record FOLDER`: the webhooks, each of which also keeps the requests that it decides, one file per
 * request and webhook, without what may be secret. Nothing is decided in another thread then.
 */
export function recording(
  webhooks: readonly Webhook[],
  folder: string,
  fail: (error: unknown) => void,
): readonly Webhook[] {
  mkdirSync(folder, { recursive: true })
  let written = 0
  return webhooks.map(({ threadAbove: _threadAbove, ...webhook }) => ({
    ...webhook,
    review(request, world) {
      if (written < MOST_FILES) {
        try {
          // A review that asked for something and is decided again overwrites its own file.
          writeFileSync(join(folder, fileName(request, webhook.name)), recorded(request), { mode: 0o600 })
          written++
        } catch (error) {
          fail(error)
        }
      }
      return webhook.review(request, world)
    },
  }))
}

function fileName({ operation, kind, name, uid }: AdmissionRequest, webhook: string): string {
  const parts = [operation, kind.kind, name || 'unnamed', webhook, uid].map(part =>
    part.replace(/[^A-Za-z0-9-]/g, '_').slice(0, 63),
  )
  return `${parts.join('-').toLowerCase()}.json`
}

function recorded(request: AdmissionRequest): string {
  const { userInfo, object, oldObject, ...rest } = request
  const user = userInfo === undefined ? {} : { userInfo: { username: userInfo.username, groups: userInfo.groups } }
  const kept = { ...rest, ...user, object: withoutSecrets(object), oldObject: withoutSecrets(oldObject) }
  return `${JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: kept }, null, 2)}\n`
}

/** Values of environment variables, and what kubectl has copied; no rule of Muster reads either. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== LAST_APPLIED)
      .map(([key, child]) => [
        key,
        key === 'env' && Array.isArray(child) ? child.map(variable) : withoutSecrets(child),
      ]),
  )
}

function variable(each: unknown): unknown {
  return isObject(each) && 'value' in each ? { ...(each as Fields), value: REDACTED } : each
}
