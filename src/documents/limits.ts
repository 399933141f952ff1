/** No Kubernetes type nests deeper than about 30; a custom resource may, but the API server itself stops early. */
export const MAX_DEPTH = 100

/**
 * Objects and lists in one review. Field managers write the smallest objects that there are, one per field, and two
 * objects of the largest size that etcd takes hold about half as many. Without a limit, 7 MiB become 200 MB.
 */
export const MAX_NESTS = 400_000
