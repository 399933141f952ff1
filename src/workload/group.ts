import { dnsLabelProblems, MAX_LABEL_LENGTH, subdomainProblems } from '../kube/vocabulary/formats.ts'
import {
  GROUP_COUNT,
  GROUP_FAST_ADMISSION,
  GROUP_NAME,
  GROUP_ROLE,
  GROUP_ROLE_COUNT,
  GROUP_ROLES,
  GROUP_SERVING,
  GROUP_SETS,
  GROUP_TOTAL_COUNT,
  PODSET_GROUP,
  REQUIRED_TOPOLOGY,
  RETRIABLE_IN_GROUP,
} from '../kube/vocabulary/names.ts'
import type { Pod, StringMap } from '../kube/vocabulary/objects.ts'
import { annotationPath, type FieldError, forbidden, invalid, labelPath, required } from '../validation/field-error.ts'
import { atoiProblem, MAX_INT32, parseInt32 } from '../validation/numbers.ts'
import { type GroupSet, MAX_ROLES, parseGroupSets, type ReadSets } from './group-sets.ts'
import { setOf, sumErrors, sumOf } from './group-sums.ts'
import { annotationMark, labelMark, type Mark } from './pod-facts.ts'

/**
 * What a pod says about its group, in whichever dialect: what Kueue implements (total count, roles by hash), or the
 * text of KEP-976 (count, named roles, sets). The keys of groups are read in this file and in no other.
 */
export interface GroupDeclaration {
  readonly name: string
  /** All pods of the group, where the pod says it or where it follows from what it says. */
  readonly totalCount?: number
  /** KEP-976: the role of this pod, the number of roles in the group, and of pods in this role. */
  readonly role?: string
  readonly roles?: number
  readonly roleCount?: number
  /** KEP-976: what a driver announces of the pods it will create. */
  readonly sets?: readonly GroupSet[]
  readonly fastAdmission: boolean
}

export interface ParsedGroup {
  /** Undefined for a pod without a group, and for one whose declaration has errors. */
  readonly declaration: GroupDeclaration | undefined
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
}

type Annotations = Readonly<Record<string, string | undefined>>

const KEP_ANNOTATIONS = [GROUP_COUNT, GROUP_ROLES, GROUP_ROLE_COUNT, GROUP_SETS] as const

const NO_GROUP: ParsedGroup = { declaration: undefined, errors: [], warnings: [] }

/** The annotation wins when it is not empty: it has room for names that are too long for a label. */
export function groupNameOf(pod: Pod): string | undefined {
  return pod.metadata.annotations?.[GROUP_NAME] || pod.metadata.labels?.[GROUP_NAME] || undefined
}

/**
 * Selects the pods whose label names the group; those that name it in the annotation nothing selects, and for a name that
 * no label holds there is none.
 */
export const groupSelector = (name: string): string | undefined =>
  name.length > MAX_LABEL_LENGTH ? undefined : `${GROUP_NAME}=${name}`

/** Where the group's name is, or would be expected. */
export function groupNamePath(pod: Pod): string {
  return pod.metadata.annotations?.[GROUP_NAME] ? annotationPath(GROUP_NAME) : labelPath(GROUP_NAME)
}

/** KEP-976: the role that the pod itself names. */
export const groupRoleOf = (pod: Pod): string | undefined => pod.metadata.labels?.[GROUP_ROLE]

/** Everything that says how large the group is, as it is written. */
export const GROUP_SIZES: readonly Mark[] = [
  GROUP_TOTAL_COUNT,
  GROUP_COUNT,
  GROUP_ROLES,
  GROUP_ROLE_COUNT,
  GROUP_SETS,
].map(annotationMark)

/** Everything by which a pod belongs to its group, in its place there. */
export const GROUP_MARKS: readonly Mark[] = [
  labelMark(GROUP_NAME),
  annotationMark(GROUP_NAME),
  labelMark(GROUP_ROLE),
  ...GROUP_SIZES,
  annotationMark(GROUP_FAST_ADMISSION),
  annotationMark(GROUP_SERVING),
]

/** What decisions about a group read of its members, but for what a driver announces. */
export const MEMBER_MARKS: readonly Mark[] = [
  ...GROUP_MARKS.filter(({ key }) => key !== GROUP_SETS),
  annotationMark(RETRIABLE_IN_GROUP),
  annotationMark(REQUIRED_TOPOLOGY),
  annotationMark(PODSET_GROUP),
]

/** What is either on or off for a group. */
export const GROUP_SWITCHES: readonly Mark[] = [RETRIABLE_IN_GROUP, GROUP_FAST_ADMISSION, GROUP_SERVING].map(
  annotationMark,
)

/** A group with such a member has no end: its pods come and go. */
export const serves = (pod: Pod): boolean => pod.metadata.annotations?.[GROUP_SERVING] === 'true'

/** One member that does not want failures to be retried speaks for its group. */
export const forbidsRetries = (pod: Pod): boolean => pod.metadata.annotations?.[RETRIABLE_IN_GROUP] === 'false'

/** The Workload is there, and pods start, before all of them exist. */
export const isFast = (pod: Pod): boolean => pod.metadata.annotations?.[GROUP_FAST_ADMISSION] === 'true'

/** As a driver does that makes its workers itself. */
export const announces = (pod: Pod): boolean => pod.metadata.annotations?.[GROUP_SETS] !== undefined

/** What a driver announces will all be there: it says how many pods the group has, and not only what they may be. */
export const promisesAll = (pod: Pod): boolean =>
  announces(pod) && pod.metadata.annotations?.[GROUP_COUNT] !== undefined

/** The Workload of its group is there before its pods are: they are expected, or announced. */
export const isAdmittedAhead = (pod: Pod): boolean => isFast(pod) || announces(pod)

/** The label of nodes in which all pods that are placed together have to agree, as Kueue asks for it. */
export const requiredTopologyOf = (pod: Pod): string | undefined =>
  pod.metadata.annotations?.[REQUIRED_TOPOLOGY] || undefined

/** Of a pod or of a template. Roles of a group with the same name here ask for one and the same domain. */
export const podSetGroupIn = (annotations: StringMap | null | undefined): string | undefined =>
  annotations?.[PODSET_GROUP]
export const podSetGroupOf = (pod: Pod): string | undefined => podSetGroupIn(pod.metadata.annotations) || undefined

/** `readSets`: for those who ask many pods, most of which announce the same. */
export function groupOf(pod: Pod, readSets?: ReadSets): GroupDeclaration | undefined {
  return parseGroup(pod, readSets).declaration
}

export function parseGroup(pod: Pod, readSets: ReadSets = parseGroupSets): ParsedGroup {
  const annotations: Annotations = pod.metadata.annotations ?? {}
  const name = groupNameOf(pod)
  const role = groupRoleOf(pod)
  const kepKey = kepKeyOf(annotations, role)
  const total = annotations[GROUP_TOTAL_COUNT]
  if (name === undefined && total === undefined && kepKey === undefined) return NO_GROUP

  const nameProblems = name === undefined ? [] : subdomainProblems(name)
  const errors: FieldError[] =
    nameProblems.length === 0 ? [] : [invalid(groupNamePath(pod), name, nameProblems.join(','))]
  if (kepKey !== undefined && total !== undefined) {
    errors.push(mixedDialects(kepKey))
    return { declaration: undefined, errors, warnings: [] }
  }
  return kepKey === undefined
    ? parseShipped(pod, name, total, errors)
    : parseKep(pod, name, role, kepKey.key, annotations, errors, readSets)
}

interface KepKey {
  readonly key: string
  readonly path: string
}

function kepKeyOf(annotations: Annotations, role: string | undefined): KepKey | undefined {
  const key = KEP_ANNOTATIONS.find(candidate => annotations[candidate] !== undefined)
  if (key !== undefined) return { key, path: annotationPath(key) }
  return role === undefined ? undefined : { key: GROUP_ROLE, path: labelPath(GROUP_ROLE) }
}

function mixedDialects({ key, path }: KepKey): FieldError {
  const detail =
    `'${key}' (KEP-976) and '${GROUP_TOTAL_COUNT}' (Kueue) are two ways to declare a group and exclude each other: ` +
    'remove one of them'
  return forbidden(path, detail)
}

/** Kueue's rules and texts: both keys or none, and a count of at least one. */
function parseShipped(
  pod: Pod,
  name: string | undefined,
  total: string | undefined,
  errors: FieldError[],
): ParsedGroup {
  const kind = pod.metadata.annotations?.[GROUP_NAME] ? 'annotation' : 'label'
  const both = `both the '${GROUP_TOTAL_COUNT}' annotation and the '${GROUP_NAME}' ${kind} should be set`
  if (name === undefined) errors.push(required(groupNamePath(pod), both))
  else if (total === undefined) errors.push(required(annotationPath(GROUP_TOTAL_COUNT), both))
  else errors.push(...totalCountErrors(total))
  if (errors.length > 0 || name === undefined) return { declaration: undefined, errors, warnings: [] }
  const declaration = { name, totalCount: Number(total), fastAdmission: isFast(pod) }
  return { declaration, errors, warnings: [] }
}

function totalCountErrors(text: string): readonly FieldError[] {
  const path = annotationPath(GROUP_TOTAL_COUNT)
  const parsed = parseInt32(text)
  if ('problem' in parsed) {
    return [invalid(path, text, `${atoiProblem(text, parsed.problem)}; write the number of pods in the group, as "3"`)]
  }
  if (parsed.value >= 1) return []
  const detail = `incorrect annotation value '${GROUP_TOTAL_COUNT}=${text}': group total count should be greater than zero`
  return [invalid(path, text, detail)]
}

function parseKep(
  pod: Pod,
  name: string | undefined,
  role: string | undefined,
  key: string,
  annotations: Annotations,
  errors: FieldError[],
  readSets: ReadSets,
): ParsedGroup {
  if (name === undefined) {
    const detail = `both '${key}' and the '${GROUP_NAME}' label should be set: a pod with a role or a count belongs to a group`
    errors.push(required(groupNamePath(pod), detail))
  }
  const count = countOf(annotations, GROUP_COUNT, MAX_INT32, errors)
  const roles = countOf(annotations, GROUP_ROLES, MAX_ROLES, errors)
  const roleCount = countOf(annotations, GROUP_ROLE_COUNT, MAX_INT32, errors)
  const text = annotations[GROUP_SETS]
  const parsedSets = text === undefined ? undefined : readSets(text, role)
  errors.push(...roleErrors(role, annotations), ...(parsedSets?.errors ?? []))
  const sets = parsedSets?.sets
  if (errors.length === 0) errors.push(...sumErrors({ count, roles, role, roleCount, sets }))
  const warnings = parsedSets?.warnings ?? []
  if (errors.length > 0 || name === undefined) return { declaration: undefined, errors, warnings }
  const totalCount = count ?? sumOf(sets) ?? (roles === 1 ? (roleCount ?? 1) : undefined)
  const declaration: GroupDeclaration = {
    name,
    ...(totalCount === undefined ? {} : { totalCount }),
    // "If it doesn't exist, kueue assumes 1."
    ...(role === undefined ? {} : { role, roleCount: roleCount ?? setOf(sets, role)?.count ?? 1 }),
    ...(roles === undefined ? {} : { roles }),
    ...(sets === undefined ? {} : { sets }),
    fastAdmission: isFast(pod),
  }
  return { declaration, errors, warnings }
}

function countOf(annotations: Annotations, key: string, most: number, errors: FieldError[]): number | undefined {
  const text = annotations[key]
  if (text === undefined) return undefined
  const parsed = parseInt32(text)
  if ('value' in parsed && parsed.value >= 1 && parsed.value <= most) return parsed.value
  const problem = 'problem' in parsed ? `${atoiProblem(text, parsed.problem)}; ` : ''
  errors.push(invalid(annotationPath(key), text, `${problem}must be a whole number from 1 to ${most}`))
  return undefined
}

function roleErrors(role: string | undefined, annotations: Annotations): readonly FieldError[] {
  if (role !== undefined) return dnsLabelProblems(role).map(problem => invalid(labelPath(GROUP_ROLE), role, problem))
  const needsRole = [GROUP_ROLES, GROUP_ROLE_COUNT, GROUP_SETS].find(key => annotations[key] !== undefined)
  if (needsRole === undefined) return []
  return [required(labelPath(GROUP_ROLE), `'${needsRole}' says that the group has roles: name the one of this pod`)]
}
