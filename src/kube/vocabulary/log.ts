/** The part of a structured logger that long-lived parts use. A pino logger fits as it is. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
