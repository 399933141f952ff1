import { INSIGHT_FAMILIES } from './bugs/insight.ts'
import { expectAllFound } from './families.ts'

expectAllFound(INSIGHT_FAMILIES)
