import { LINT_FAMILIES } from './bugs/lints.ts'
import { expectAllFound } from './families.ts'

expectAllFound(LINT_FAMILIES)
