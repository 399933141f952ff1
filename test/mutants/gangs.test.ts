import { GANG_FAMILIES } from './bugs/gangs.ts'
import { expectAllFound } from './families.ts'

expectAllFound(GANG_FAMILIES)
