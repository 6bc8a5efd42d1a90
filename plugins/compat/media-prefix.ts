/** Chooses which of the two prefixes of media URLs replies contain; both are served. */
import { type App, type Reply, type Route, Type } from 'archivolt'
import { rewritten } from './reply-text.ts'

const OURS = '/media'
const PREFIXES = [OURS, '/youtube'] as const

export const mediaPrefixSetting = {
  env: 'AV_COMPAT_MEDIA_PREFIX',
  schema: Type.Enum([...PREFIXES], { description: PREFIXES.join(' or ') }),
  default: OURS,
  meaning: 'prefix of `media_url`, for scripts that turn it into a path on disk: `/media`, or `/youtube` as in v0.5',
}

const announced = (prefix: string): string => `"media_url":"${prefix}/`

const underPrefix = (reply: Reply, prefix: string): Reply =>
  rewritten(reply, (text) => text.replaceAll(announced(OURS), announced(prefix)))

/** The change for a route that replies with records of videos. */
export const prefixed = ({ handle }: Route): Partial<Route> => ({
  handle(input, app: App & Parameters<typeof handle>[1]) {
    const prefix = app.settings.compatMediaPrefix
    const reply = handle(input, app)
    if (prefix === OURS) return reply
    return Promise.resolve(reply).then((made) => underPrefix(made, prefix))
  },
})

declare module 'archivolt' {
  interface Settings {
    compatMediaPrefix: (typeof PREFIXES)[number]
  }
}
