/** Untyped helpers for tests of plugins whose names have no types. */
import { type App, defineRoute, Type } from '../../plugins/plugin-kit/public.ts'

export interface Loose {
  [name: string]: any
}
export const loose = (app: App): Loose => app as unknown as Loose

/** A public route that returns what the handler returns. */
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
