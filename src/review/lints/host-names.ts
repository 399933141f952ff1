/** The names of Jobs that a JobSet makes, and of their pods, are parts of host names, which begin with a letter there. */
export const HOST = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/
