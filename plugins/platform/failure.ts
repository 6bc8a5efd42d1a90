/** The failure of an ask, as those who asked get to see it. */
import type { Verdict } from './classify.ts'
import type { Failure, FailureClass } from './types.ts'

export class PlatformFailure extends Error implements Failure {
  override readonly name = 'PlatformFailure'
  readonly failure: FailureClass
  readonly availableAt?: number
  readonly isDeferred?: true
  readonly needBytes?: number

  constructor(verdict: Verdict, options: { isDeferred?: boolean; needBytes?: number; cause?: unknown } = {}) {
    super(verdict.message, { cause: options.cause })
    this.failure = verdict.failure
    if (verdict.availableAt !== undefined) this.availableAt = verdict.availableAt
    if (options.isDeferred) this.isDeferred = true
    if (options.needBytes !== undefined) this.needBytes = options.needBytes
  }
}

/** Told by its shape: an outside plugin may load a copy of the class. */
export function failureOf(thrown: unknown): Failure | undefined {
  return thrown instanceof Error && thrown.name === 'PlatformFailure' && 'failure' in thrown
    ? (thrown as Failure)
    : undefined
}
