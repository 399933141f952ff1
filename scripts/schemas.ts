// Writes the JSON schemas that the code has into docs/schemas, for editors. A test says when this has to be run.
import { writeFileSync } from 'node:fs'
import { CONFIGURATION_SCHEMA } from '../src/config/schema.ts'
import { CASE_SCHEMA } from '../src/review/cases/case.ts'

const DRAFT = 'http://json-schema.org/draft-07/schema#'

export const SCHEMAS: Readonly<Record<string, object>> = {
  configuration: { $schema: DRAFT, title: 'Configuration of Muster', ...CONFIGURATION_SCHEMA },
  case: { $schema: DRAFT, title: 'A case of muster test', ...CASE_SCHEMA },
}

if (import.meta.main) {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    const file = new URL(`../docs/schemas/${name}.schema.json`, import.meta.url)
    writeFileSync(file, `${JSON.stringify(schema, null, 2)}\n`)
  }
}
