import { GROUND_FAMILIES } from './bugs/ground.ts'
import { POD_FAMILIES } from './bugs/pods.ts'
import { UNINSTALL_FAMILIES } from './bugs/uninstall.ts'
import { expectAllFound } from './families.ts'

expectAllFound([...POD_FAMILIES, ...GROUND_FAMILIES, ...UNINSTALL_FAMILIES])
