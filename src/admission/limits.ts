/** No Kubernetes type nests deeper than about 30; a custom resource may, but the API server itself stops early. */
export const MAX_DEPTH = 100
