import { KNOWN_FRAMEWORKS } from '../kube/vocabulary/frameworks.ts'
import { nearest } from '../kube/vocabulary/nearest.ts'
import { ANY_USER, type Configuration, DEFAULT_CONFIGURATION } from './configuration.ts'
import { shown } from './schema-errors.ts'
import type { Report } from './source.ts'

type Controllers = Configuration['guard']['controllers']

/**
 * A framework in use whose creators nobody has named would excuse nobody, and its pods would wait twice: once with
 * their owner, once on their own. That is never meant, and only the administrator knows who runs its controller.
 */
export function checkControllers(given: Controllers, frameworks: readonly string[] | undefined, report: Report): void {
  const { guard, integrations } = DEFAULT_CONFIGURATION
  const named = { ...guard.controllers, ...given }
  for (const [index, framework] of (frameworks ?? integrations.frameworks).entries()) {
    const users = Object.hasOwn(named, framework) ? named[framework] : undefined
    if (framework === 'pod' || (users !== undefined && users.length > 0)) continue
    const written = users === undefined || frameworks !== undefined
    report(written ? ['integrations', 'frameworks', index] : ['guard', 'controllers', framework], unnamed(framework))
  }
  for (const [framework, users] of Object.entries(given)) {
    const star = users.indexOf(ANY_USER)
    if (star < 0 || users.length === 1) continue
    report(
      ['guard', 'controllers', framework, star],
      '"*" stands for every user and must stand alone: remove it or the others',
    )
  }
}

function unnamed(framework: string): string {
  return (
    `nobody is named who creates the pods of ${shown(framework)}: write guard.controllers: ` +
    `{${framework}: ["system:serviceaccount:NAMESPACE:NAME"]} with the user of its controller, or ["*"] to believe ` +
    'whoever names such an owner'
  )
}

/** Other kinds than frameworks may own Jobs, so an unknown name may be right; one that is nearly right hardly is. */
export function controllerWarnings(given: Controllers, warn: Report): void {
  const known = [...new Set([...KNOWN_FRAMEWORKS, ...Object.keys(DEFAULT_CONFIGURATION.guard.controllers)])]
  for (const name of Object.keys(given)) {
    const close = known.includes(name) ? undefined : nearest(name, known)
    if (close !== undefined) warn(['guard', 'controllers', name], `did you mean "${close}"?`)
  }
}
