import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const page = read('docs/ci.md')

/** The code under a heading. */
function block(heading: string, language: string): string {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(section)?.[1]
  if (found === undefined) throw new Error(`no ${language} under ${heading}`)
  return found
}

/** A repository as the page makes it, with the commands on the PATH: helm and kustomize print a manifest. */
const repository = mkdtempSync(join(tmpdir(), 'muster-ci-'))
afterAll(() => rmSync(repository, { recursive: true, force: true }))
const write = (name: string, text: string, mode = 0o644): void => {
  mkdirSync(join(repository, name, '..'), { recursive: true })
  writeFileSync(join(repository, name), text)
  chmodSync(join(repository, name), mode)
}
const manifest = block('A first check', 'yaml')
const program = (file: string): string => `#!/bin/sh\nexec '${process.execPath}' '${join(root, file)}' "$@"\n`
write('bin/muster', program('bin/muster.js'), 0o755)
write('bin/kubectl-muster', program('bin/kubectl-muster'), 0o755)
for (const name of ['helm', 'kustomize']) write(`bin/${name}`, '#!/bin/sh\nexec cat manifests/pods.yaml\n', 0o755)
write('cases/group.yaml', read('examples/cases/group.yaml'))
write('cases/group.case.yaml', read('examples/cases/group.case.yaml'))

function shell(script: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', script], {
    cwd: repository,
    encoding: 'utf8',
    env: { PATH: `${join(repository, 'bin')}:${process.env.PATH}`, ...env },
  })
  return { status, stdout, stderr }
}

const withQueue = (queue: string): void => write('manifests/pods.yaml', manifest.replace('Team_A', queue))
/** What a step runs, but for the installation. */
const commands = (steps: readonly string[]): string => steps.filter(step => !step.startsWith('npm install')).join('\n')

const RECIPES: readonly (readonly [string, () => string])[] = [
  ['the first check', () => block('A first check', 'sh')],
  [
    'GitHub Actions',
    () =>
      commands(
        parse(block('GitHub Actions', 'yaml')).jobs.muster.steps.flatMap(({ run }: { run?: string }) => run ?? []),
      ),
  ],
  ['GitLab CI', () => commands(parse(block('GitLab CI', 'yaml')).muster.script)],
  ['Helm and kustomize', () => block('Helm and kustomize', 'sh')],
  ['the action', () => parse(read('action.yml')).runs.steps[1].run],
]
const inputs = { PATHS: 'manifests/', ARGUMENTS: '--skip-unknown', SARIF: 'out.sarif' }

describe('docs/ci.md', () => {
  it.each(RECIPES)('%s fails for the manifest of the page, and passes when it is put right', (_what, recipe) => {
    withQueue('Team_A')
    const failed = shell(recipe(), inputs)
    expect(failed.status, failed.stderr).toBe(1)
    expect(failed.stdout).toMatch(/kueue\.x-k8s\.io\/queue-name/)
    withQueue('team-a')
    const passed = shell(recipe(), inputs)
    expect(passed.status, passed.stdout + passed.stderr).toBe(0)
  })

  it('on an old repository begins with a baseline', () => {
    write(
      'manifests/pods.yaml',
      manifest.replace('Team_A', 'team-a').replace('labels:', 'labels:\n    kueue.x-k8s.io/x: z'),
    )
    const script =
      [...page.matchAll(/```sh\n([\s\S]+?)```/g)]
        .map(([, code = '']) => code)
        .find(code => code.includes('baseline')) ?? ''
    const { status, stdout } = shell(script.replaceAll('muster review', 'muster review --fail-on warn'))
    expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('1 suppressed') })
  })

  it('the hooks of pre-commit are there, and run on the files that changed', () => {
    const hooks = parse(read('.pre-commit-hooks.yaml'))
    const named = parse(block('pre-commit', 'yaml')).repos[0].hooks.map(({ id }: { id: string }) => id)
    expect(hooks.map(({ id }: { id: string }) => id)).toEqual(named)
    withQueue('Team_A')
    expect(shell(`${hooks[0].entry} manifests/pods.yaml`).status).toBe(1)
    expect(shell(`${hooks[1].entry} cases`).status).toBe(0)
  })

  it('kubectl finds the command as its own', () => {
    expect(shell('kubectl-muster review manifests/').status).toBe(1)
  })

  it.each([
    'README.md',
    'docs/ci.md',
    'docs/review.md',
    'docs/test.md',
    'docs/flags.md',
    'docs/build.md',
    'docs/jobs.md',
  ])('%s nowhere shows a bare npx muster, which is the package of somebody else', file => {
    expect(read(file)).not.toMatch(/npx muster\b/)
  })
})
