// Bundles what runs without a server (review, test, build, explain, ...) into a few files next to dist/: a command that
// runs in every pull request must not open two hundred files first. The server is started from dist/ as it is: it has
// threads of its own, which are files of their own.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = resolve(root, process.argv[2] ?? 'dist')
const folder = join(dist, 'bundle')

rmSync(folder, { recursive: true, force: true })
await build({
  // A kubeconfig is read in a process of its own, by a file that lies beside whoever starts it.
  input: { muster: join(dist, 'main.js'), 'kubeconfig-reader': join(dist, 'kube/client/kubeconfig-reader.js') },
  platform: 'node',
  // Wherever dist/ is written to, what it imports is installed here.
  resolve: { modules: [join(root, 'node_modules')] },
  logLevel: 'warn',
  // Loaded only where they are needed: for a configuration file, for an AdmissionReview, for a server.
  external: /^(?:ajv|yaml|fastify|pino|prom-client|selfsigned|@kubernetes\/client-node)(?:\/|$)|cli\/serve\.js$/,
  output: {
    dir: folder,
    format: 'esm',
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  },
})
