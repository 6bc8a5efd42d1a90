/** Resolves a scope to channels and playlists. */
import type { GroupRows } from './group-rows.ts'
import type { Scope } from './schema.ts'

export type Scopes = ReturnType<typeof openScopes>

/** Resolves scopes with the current groups. */
export function openScopes(groups: Pick<GroupRows, 'list'>) {
  const all = new Map(
    groups.list().map(({ id, members }) => {
      const of = (kind: 'channel' | 'playlist') => members.filter((one) => one.kind === kind).map((one) => one.id)
      const channels = of('channel')
      return [id, { channels, set: new Set(channels), playlists: of('playlist') }]
    }),
  )
  const playlistsOf = (scope: Scope): readonly string[] => {
    if (scope.kind === 'playlist') return [scope.id]
    return scope.kind === 'group' ? (all.get(scope.id)?.playlists ?? []) : []
  }
  return {
    playlistsOf,

    /** undefined: all channels. */
    channelsOf(scope: Scope): readonly string[] | undefined {
      if (scope.kind === 'all') return undefined
      if (scope.kind === 'channel') return [scope.id]
      return scope.kind === 'group' ? (all.get(scope.id)?.channels ?? []) : []
    },

    isOf(scope: Scope, channelId: string, isInPlaylist: (id: string) => boolean): boolean {
      if (scope.kind === 'all') return true
      if (scope.kind === 'channel') return scope.id === channelId
      if (scope.kind === 'group' && all.get(scope.id)?.set.has(channelId)) return true
      return playlistsOf(scope).some(isInPlaylist)
    },
  }
}
