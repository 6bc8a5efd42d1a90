/** Why the server cannot start, as one sentence for who starts it: what is wrong, where, what to do. */
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
