import type { KueueKinds } from '../../kube/vocabulary/kueue.ts'
import type { KubeObject } from '../../kube/vocabulary/objects.ts'
import { fields, type Outline } from '../../kube/vocabulary/outline.ts'
import type { Background } from '../../reconciler/engine.ts'
import type { ResourceFlavor, WorkloadPriorityClass } from './objects.ts'

const METADATA = fields('name', 'uid', 'resourceVersion')
const FLAVOR_OUTLINE: Outline = { metadata: METADATA, spec: fields('nodeLabels', 'tolerations') }
const CLASS_OUTLINE: Outline = { metadata: METADATA, value: true }

/** What Kueue's administrators have set up, as far as pods depend on it: where flavors are, and what classes are worth. */
export class KueueSettings {
  readonly #flavors = new Map<string, ResourceFlavor>()
  readonly #classes = new Map<string, number>()

  flavor(name: string): ResourceFlavor | undefined {
    return this.#flavors.get(name)
  }

  /** The priority of a WorkloadPriorityClass; undefined: there is none of the name. */
  priorityOf(name: string): number | undefined {
    return this.#classes.get(name)
  }

  watches({ flavors, priorityClasses }: KueueKinds): readonly Background[] {
    return [
      { resource: flavors, outline: FLAVOR_OUTLINE, see: (object, gone) => keep(this.#flavors, object, gone, object) },
      {
        resource: priorityClasses,
        outline: CLASS_OUTLINE,
        see: (object, gone) => keep(this.#classes, object, gone, (object as WorkloadPriorityClass).value ?? 0),
      },
    ]
  }
}

function keep<T>(known: Map<string, T>, { metadata: { name = '' } }: KubeObject, gone: boolean, value: T): void {
  if (gone) known.delete(name)
  else known.set(name, value)
}
