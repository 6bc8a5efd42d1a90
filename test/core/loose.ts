/** For tests of what plugins do by names that no type knows. */
import { type App, defineRoute, Type } from '../../plugins/plugin-kit/public.ts'

export interface Loose {
  [name: string]: any
}
export const loose = (app: App): Loose => app as unknown as Loose

/** Open to all, and says what the handler returns. */
export const aRoute = (path: string, handle: (app: App) => any, more: object = {}) =>
  defineRoute({
    method: 'GET',
    path,
    access: 'open',
    summary: 'x',
    reply: Type.Object({}),
    handle: (_input, app) => handle(app),
    ...more,
  })
