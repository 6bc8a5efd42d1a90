/** The caller's own address of the metadata provider over the API: read, create, delete. */
import { defineRoute, ownUrl, Type } from 'archivolt'
import type { App } from './app.ts'

const Provider = Type.Object({
  url: Type.Union([Type.String(), Type.Null()], {
    description: 'opens everything that the caller may see to anybody who knows it; null: none',
  }),
})
const shared = { path: '/api/plex/', access: 'viewer', scope: 'none' } as const

function addressOf(
  id: number | undefined,
  userId: number,
  request: Parameters<App['publicUrl']>[0],
  app: App,
): { url: string | null } {
  const base = ownUrl(request, app)
  return { url: id === undefined ? null : app.providers.addressOf(id, userId, base) }
}

export const showAddress = defineRoute({
  ...shared,
  method: 'GET',
  summary: 'The address of the caller’s metadata provider for Plex',
  reply: Provider,
  errors: ['bad_request'],
  handle: ({ actor, request }, app: App) => addressOf(app.providers.ofUser(actor.id), actor.id, request, app),
})

export const makeAddress = defineRoute({
  ...shared,
  method: 'POST',
  summary: 'Create the address of the caller’s metadata provider; an existing one is returned',
  reply: Provider,
  errors: ['bad_request'],
  handle: async ({ actor, request }, app: App) => addressOf(await app.providers.make(actor.id), actor.id, request, app),
})

export const endAddress = defineRoute({
  ...shared,
  method: 'DELETE',
  summary: 'End the caller’s metadata provider: its address stops working',
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found'],
  async handle({ actor }, app: App) {
    await app.providers.end(actor.id)
    return { success: true as const }
  },
})
