import { GROUND_FAMILIES } from './bugs/ground.ts'
import { KUEUE_FAMILIES } from './bugs/kueue.ts'
import { POD_GUARD_FAMILIES } from './bugs/pod-guard.ts'
import { POD_QUEUE_FAMILIES } from './bugs/pod-queues.ts'
import { UNINSTALL_FAMILIES } from './bugs/uninstall.ts'
import { expectAllFound } from './families.ts'

expectAllFound([
  ...[...POD_GUARD_FAMILIES, ...POD_QUEUE_FAMILIES],
  ...[...GROUND_FAMILIES, ...KUEUE_FAMILIES, ...UNINSTALL_FAMILIES],
])
