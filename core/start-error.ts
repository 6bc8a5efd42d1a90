/**
 * Why the server cannot start, in one sentence for the person who starts it: what is wrong, where, what to do. Shown
 * without a stack.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
  /** The sentence without the remedy that leaves a plugin out. */
  readonly reason: string
  /** The name of an external plugin, or of its folder: the server can start without it. */
  readonly leaveOut: string | undefined

  constructor(reason: string, { leaveOut, cause }: { leaveOut?: string | undefined; cause?: unknown } = {}) {
    const remedy = leaveOut && `; correct or remove it, or start without it: AV_PLUGINS_OFF=${leaveOut}`
    super(`${reason}${remedy ?? ''}`, cause === undefined ? undefined : { cause })
    this.reason = reason
    this.leaveOut = leaveOut
  }
}
