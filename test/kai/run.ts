import { CONTROL_PLANE, KAI } from '../cluster/programs/catalog.ts'
import { runTests, tellWhyNot } from '../cluster/programs/run-tests.ts'

/** `npm run test:kai [-- FILE...]`: builds a control plane and KAI, or finds them, and lets them place Muster's pods. */
await runTests({
  programs: [...CONTROL_PLANE, ...KAI],
  config: 'vitest.kai.config.ts',
  files: process.argv.slice(2),
  env: process.env,
}).catch(tellWhyNot)
