import type { YAMLError } from 'yaml'

const DESCRIPTIONS: Partial<Record<YAMLError['code'], string>> = {
  DUPLICATE_KEY: 'the key is there twice in this map: remove one',
  TAB_AS_INDENT: 'a tab cannot indent YAML: use spaces',
  RESOURCE_EXHAUSTION: 'is nested too deeply',
}

/** What the YAML library complains about, with the remedy where there is one. */
export function describeYamlError({ code, message }: YAMLError): string {
  return DESCRIPTIONS[code] ?? `is not valid YAML: ${message}`
}
