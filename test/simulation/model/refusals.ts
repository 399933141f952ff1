import { ApiError, type ObjectRef, type Resource, type StatusDetails } from '../../../src/kube/vocabulary/api.ts'
import { aggregate, causeReason, describe, type FieldError } from '../../../src/validation/field-error.ts'

export function notFound({ plural }: Resource, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${plural} "${name}" not found`)
}

export function alreadyExists({ plural }: Resource, name: string): ApiError {
  return new ApiError(409, 'AlreadyExists', `${plural} "${name}" already exists`)
}

export function conflict({ name }: ObjectRef): ApiError {
  const advice = 'please apply your changes to the latest version and try again'
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on "${name}": the object has been modified; ${advice}`,
  )
}

export function otherUid(wanted: string, found: string | undefined): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`,
  )
}

export function invalid({ kind }: Pick<Resource, 'kind'>, name: string, error: FieldError): ApiError {
  return new ApiError(422, 'Invalid', `${kind} "${name}" is invalid: ${aggregate([error])}`, causedBy([error]))
}

/** Of the server's own rules, and of a webhook's: it passes on what the webhook says. */
export function causedBy(errors: readonly FieldError[]): StatusDetails {
  const causes = errors.map(error => ({
    reason: causeReason(error.type),
    field: error.field,
    message: describe(error),
  }))
  return { causes }
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message)
}

export function terminating({ plural }: Resource, namespace: string): ApiError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  const message = `namespace ${namespace} is being terminated`
  const causes = [{ reason: 'NamespaceTerminating', field: 'metadata.namespace', message }]
  return new ApiError(403, 'Forbidden', `${plural} is forbidden: ${why}`, { causes })
}

export function unsupportedPatch(type: string): ApiError {
  return new ApiError(415, 'UnsupportedMediaType', `the body of the request was in an unknown format: ${type} patch`)
}

/** A plain error inside the API server, without a reason. */
export function versionOnCreate(): ApiError {
  return new ApiError(500, '500', 'resourceVersion should not be set on objects to be created')
}

export function expired(): ApiError {
  return new ApiError(410, 'Expired', 'the provided continue parameter or resource version is too old')
}
