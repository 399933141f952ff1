// Compiles src/ to dist/ (or to the folder named on the command line), from nothing each time: a file that was renamed
// must not live on in the package.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const outDir = resolve(root, process.argv[2] ?? 'dist')
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')

rmSync(outDir, { recursive: true, force: true })
// The compiler is started with the Node that runs this script and not through npm: in an image build the pinned
// `node` package has no binary, because install scripts are off there.
const run = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', outDir], {
  cwd: root,
  stdio: 'inherit',
})
if (run.error !== undefined) throw run.error
process.exitCode = run.status ?? 1
