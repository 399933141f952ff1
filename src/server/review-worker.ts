import { type MessagePort, parentPort } from 'node:worker_threads'
import { createReviewDecoder } from '../admission/protocol.ts'
import type { AdmissionRequest } from '../admission/review.ts'
import { WEBHOOKS } from '../webhooks/all.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { answerReview } from './answer-review.ts'
import { AskingWorld } from './asking-world.ts'
import { subject } from './decision-log.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

/** The review that is being decided. */
interface Case {
  readonly webhook: Webhook
  readonly request: AdmissionRequest
  readonly world: AskingWorld
}

if (parentPort !== null) serveReviews(parentPort)

/** The other side of `ReviewThread`: one review at a time, one answer to each message. */
function serveReviews(port: MessagePort): void {
  const decode = createReviewDecoder()
  let current: Case | undefined

  const handle = (message: ToThread): FromThread => {
    if (message.kind === 'facts') {
      if (current === undefined) throw new Error('facts came before the review they belong to')
      current.world.learn(message.facts)
      return attempt(current)
    }
    const webhook = WEBHOOKS.find(({ name }) => name === message.webhook)
    if (webhook === undefined) throw new Error(`there is no webhook ${message.webhook}`)
    const { buffer, byteOffset, length } = message.body
    const decoded = decode(Buffer.from(buffer, byteOffset, length))
    if ('error' in decoded) return { kind: 'unreadable', ...decoded.error }
    current = { webhook, request: decoded.ok.request, world: new AskingWorld(message.settled) }
    return attempt(current)
  }

  port.on('message', (message: ToThread) => {
    const reply = handle(message)
    // A large object that nobody needs any more must not stay until the next one comes.
    if (reply.kind !== 'asks') current = undefined
    port.postMessage(reply)
  })
}

function attempt({ webhook, request, world }: Case): FromThread {
  try {
    return answerReview(webhook, request, world)
  } catch (error) {
    return { kind: 'failed', uid: request.uid, about: subject(request), error }
  }
}
