import {
  KAI_POD_GROUP_OUTLINE,
  POD_GROUP_OUTLINE,
  PRIORITY_CLASS_OUTLINE,
  slim,
  slimPod,
  slimPodGroup,
  TOPOLOGY_OUTLINE,
  WAITING_POD_OUTLINE,
  WORKLOAD_OUTLINE,
} from '../../src/coscheduling/kai/cache-contents.ts'
import type { KubeObject, Pod } from '../../src/kube/vocabulary/objects.ts'
import { outlined } from '../../src/kube/vocabulary/outline.ts'

/** As an object comes out of its cache: no decision is made on anything else. */
export const KEPT: Readonly<Record<string, (object: KubeObject) => KubeObject>> = {
  pod: object => slimPod(outlined(object, WAITING_POD_OUTLINE) as Pod),
  workload: object => slim(outlined(object, WORKLOAD_OUTLINE) as KubeObject),
  podGroup: object => slim(outlined(object, POD_GROUP_OUTLINE) as KubeObject),
  kaiPodGroup: object => slimPodGroup(outlined(object, KAI_POD_GROUP_OUTLINE) as KubeObject),
  topology: object => slim(outlined(object, TOPOLOGY_OUTLINE) as KubeObject),
  priorityClass: object => outlined(object, PRIORITY_CLASS_OUTLINE) as KubeObject,
}
