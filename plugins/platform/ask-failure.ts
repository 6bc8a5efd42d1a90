/** The failure of an ask, as its caller sees it. */
import type { Verdict } from './classify.ts'
import type { FailureClass, Sign } from './failure-classes.ts'
import type { Failure } from './types.ts'

export class PlatformFailure extends Error implements Failure {
  override readonly name = 'PlatformFailure'
  readonly failure: FailureClass
  readonly availableAt?: number
  readonly isDeferred?: true
  readonly needBytes?: number
  /** Used only inside this plugin. */
  readonly sign: Sign | undefined

  constructor(verdict: Verdict, options: { isDeferred?: boolean; needBytes?: number; cause?: unknown } = {}) {
    super(verdict.message, { cause: options.cause })
    this.failure = verdict.failure
    this.sign = verdict.sign
    if (verdict.availableAt !== undefined) this.availableAt = verdict.availableAt
    if (options.isDeferred) this.isDeferred = true
    if (options.needBytes !== undefined) this.needBytes = options.needBytes
  }
}

/** Checked by shape: an external plugin may load its own copy of the class. */
export function failureOf(thrown: unknown): Failure | undefined {
  return thrown instanceof Error && thrown.name === 'PlatformFailure' && 'failure' in thrown
    ? (thrown as Failure)
    : undefined
}

/** Whether the channel has no such tab, which counts as empty. */
export const isMissingTab = (thrown: unknown): boolean => thrown instanceof PlatformFailure && thrown.sign === 'no_tab'
