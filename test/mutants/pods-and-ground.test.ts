import { GROUND_FAMILIES } from './bugs/ground.ts'
import { POD_FAMILIES } from './bugs/pods.ts'
import { expectAllFound } from './families.ts'

expectAllFound([...POD_FAMILIES, ...GROUND_FAMILIES])
