import { POD_FAMILIES } from './bugs/pods.ts'
import { expectAllFound } from './families.ts'

expectAllFound(POD_FAMILIES)
