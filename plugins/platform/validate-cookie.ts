/** Checks whether the platform knows the owner of a cookie jar. */
import { ChildError } from './child.ts'
import { classify } from './classify.ts'
import { FAILURES } from './failure-classes.ts'
import type { AskOptions, Platform } from './types.ts'
import { ofMetadata, type YtDlp } from './ytdlp.ts'

export function validateCookie(jar: string, options: AskOptions, ytdlp: YtDlp): ReturnType<Platform['validateCookie']> {
  return ytdlp.ask(ofMetadata('cookie'), options, async (child) => {
    try {
      const { result, warnings } = await ytdlp.shared.ask({ op: 'validate', jar }, child)
      return {
        isValid: result.id === 'LL' && !warnings.some((warning) => warning.includes('cookies are no longer valid')),
        jar: String(result.jar),
      }
    } catch (error) {
      if (!(error instanceof ChildError)) throw error
      const isUnreadable = error.evidence.kinds.some((kind) => kind === 'LoadError' || kind === 'CookieLoadError')
      if (isUnreadable) return { isValid: false, isUnreadable, jar }
      // The platform has many messages for a jar without an owner; the classes of all of them are final.
      if (FAILURES[classify(error.evidence, 0).failure].item === 'final') return { isValid: false, jar }
      throw error
    }
  })
}
