/** Makes a route that removes a row: its path ends with the row's id, its only variable. */
import { Type } from 'typebox'
import type { Actor } from '../../core/accounts/authentication.ts'
import { type App, defineRoute, type Route } from '../../core/plugin/define.ts'
import { ROW_PATTERN } from './ids.ts'

const Success = Type.Object({ success: Type.Literal(true) })

interface Removal<Given extends App>
  extends Pick<Route<Given>, 'path' | 'access' | 'summary'>,
    Partial<Pick<Route<Given>, 'scope' | 'errors'>> {
  remove(id: number, app: Given, actor: Actor): Promise<unknown>
}

export function defineRemoval<Given extends App>({
  path,
  remove,
  ...rest
}: Removal<Given>): Route<Given, typeof Success> {
  const [, name = ''] = /:(\w+)\/$/.exec(path) ?? []
  return defineRoute({
    ...rest,
    method: 'DELETE',
    path,
    params: Type.Object({ [name]: Type.String({ pattern: ROW_PATTERN }) }),
    reply: Success,
    async handle({ params, actor }, app: Given) {
      await remove(Number(params[name]), app, actor)
      return { success: true }
    },
  })
}
