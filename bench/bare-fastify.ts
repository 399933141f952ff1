import { readFileSync } from 'node:fs'
import fastify from 'fastify'
import { type BareReview, bareAnswer } from './bare-answer.ts'

/** The same with Fastify and nothing else: what the framework costs. */
const [keyFile = '', certFile = ''] = process.argv.slice(2)
const app = fastify({ https: { key: readFileSync(keyFile), cert: readFileSync(certFile) }, keepAliveTimeout: 120_000 })
app.post<{ Body: BareReview }>('/mutate/pods', (request, reply) => {
  void reply.header('content-type', 'application/json').send(bareAnswer(request.body))
})
await app.listen({ port: 0, host: 'localhost' })
const [address] = app.addresses()
process.stdout.write(`listening ${typeof address === 'object' ? address.port : ''}\n`)
