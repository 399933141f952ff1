/** No Kubernetes type nests deeper than about 30; a custom resource may, but the API server itself stops early. */
export const MAX_DEPTH = 100

/**
 * Objects and lists in one review. Field managers write the smallest objects that there are, one per field, and two
 * objects of the largest size that etcd takes hold about half as many. Without a limit, 7 MiB become 200 MB.
 */
export const MAX_NESTS = 400_000

/** More than any manifest; less than what makes a parser run out of memory. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024

/**
 * The YAML parser notes about a hundred bytes per value. One document that needs more than this is a List that nobody
 * wrote by hand, and JSON has room for it.
 */
export const MAX_YAML_MARKS = 2_000_000

/** Of a JSON List that is longer, one object at a time is held, and not all of them at once. */
export const LARGE_LIST = 4 * 1024 * 1024
