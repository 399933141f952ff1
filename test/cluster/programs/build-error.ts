/** A build that cannot go on. The message is for the person at the terminal and says what to do. */
export class BuildError extends Error {
  override readonly name = 'BuildError'
}
