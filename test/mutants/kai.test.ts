import { KAI_FAMILIES } from './bugs/kai.ts'
import { expectAllFound } from './families.ts'

expectAllFound(KAI_FAMILIES)
