import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { bareAnswer } from './bare-answer.ts'

/** The floor: what Node needs to read a review over TLS, parse it, and answer with a patch. */
const [keyFile = '', certFile = ''] = process.argv.slice(2)
const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(certFile) }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', chunk => chunks.push(chunk))
  request.on('end', () => {
    const text = bareAnswer(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    response.end(text)
  })
})
server.keepAliveTimeout = 120_000
server.listen(0, 'localhost', () => {
  const address = server.address()
  process.stdout.write(`listening ${typeof address === 'object' ? address?.port : ''}\n`)
})
