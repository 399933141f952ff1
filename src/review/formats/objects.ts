import { writeYaml } from '../../documents/yaml-writer.ts'
import type { Formatter } from './formatter.ts'
import { oneLine } from './formatter.ts'
import { unifiedDiff } from './line-diff.ts'

/** The objects after mutation, for `kubectl create -f -`. What is denied is not among them: it could not be created. */
export function objectsFormatter(): Formatter {
  return {
    begin: () => '',
    entry(entry) {
      if (entry.kind !== 'result') return ''
      const { allowed, source, result } = entry.result
      // The pods of a template are made by its controller.
      if (!allowed || source.path !== undefined || result === null) return ''
      return `---\n${writeYaml(result)}`
    },
    end: () => [],
  }
}

/** What mutation changes, for people. */
export function diffFormatter(): Formatter {
  return {
    begin: () => '',
    entry(entry) {
      if (entry.kind !== 'result' || entry.result.patch.length === 0) return ''
      const { source, kind, namespace, name, result } = entry.result
      const path = source.path === undefined ? '' : ` ${source.path}`
      const where = oneLine(`${source.file}:${source.line}${path}`)
      const what = oneLine(`${kind} ${namespace === '' ? name : `${namespace}/${name}`}`)
      const difference = unifiedDiff(writeYaml(entry.given), writeYaml(result))
      return difference === '' ? '' : `--- ${where} ${what}\n+++ ${where} ${what}, mutated\n${difference}`
    },
    end: () => [],
  }
}
