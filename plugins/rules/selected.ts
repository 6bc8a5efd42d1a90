/**
 * The parameter `rule` of lists of videos: those that a rule applies to, taking or keeping, regardless of the rules
 * before it.
 */
import { epochSeconds, errors, type Hooks, Type } from 'archivolt'
import type { App } from './app.ts'
import { openScopes } from './scopes.ts'
import { selectedBy } from './survey.ts'

/** Maximum number of videos, the newest first. */
const MOST = 5000

export function listFilter(app: App): Hooks['video.filter'] {
  return {
    query: {
      rule: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: `videos that this rule applies to, at most the newest ${MOST}; only for accounts that may download`,
        }),
      ),
    },
    async apply({ rule: id }, actor) {
      if (typeof id !== 'number') return undefined
      if (!actor.mayDownload) throw errors.permissionDenied('Only accounts that may download see what rules apply to')
      const rule = app.rules.get(id)
      if (!rule) return { ids: [] }
      const ids = await selectedBy(rule, openScopes(app.groups), epochSeconds(app.clock), app)
      return { ids: ids.slice(0, MOST) }
    },
  }
}
